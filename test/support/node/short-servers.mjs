import { Server } from 'node:net';

// Preloaded into snippets and examples: a server on a fixed port takes a free one instead, and ends
// when the program has no other work. Servers that ask for a free port are unchanged.
const { listen } = Server.prototype;

Server.prototype.listen = function (port, ...rest) {
  const isFixed = typeof port === 'number' && port !== 0;
  listen.call(this, isFixed ? 0 : port, ...rest);
  return isFixed ? this.unref() : this;
};
