import { Server } from 'node:net';

// Preloaded into programs of the README: a server on a fixed port takes a free one instead, and
// prints it.
const { listen } = Server.prototype;

Server.prototype.listen = function (port, ...rest) {
  const isFixed = typeof port === 'number' && port !== 0;
  if (isFixed) {
    this.once('listening', () => console.log(`listening on ${this.address().port}`));
  }
  return listen.call(this, isFixed ? 0 : port, ...rest);
};
