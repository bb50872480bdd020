import { Server } from 'node:net';

// Preloaded into snippets and examples: a server on a fixed port takes a free one instead, and ends
// with its program's other work. Servers that ask for a free port run as they are.
const { listen } = Server.prototype;

Server.prototype.listen = function (port, ...rest) {
  const isFixed = typeof port === 'number' && port !== 0;
  listen.call(this, isFixed ? 0 : port, ...rest);
  return isFixed ? this.unref() : this;
};
