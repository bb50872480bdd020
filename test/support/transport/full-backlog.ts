import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A port of this machine that takes no more connections: connecting to it never ends. */
export interface FullBacklog {
  readonly url: string;
  close(): void;
}

// It listens with room for one, and is then stopped: nobody accepts.
const script = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;

const patienceMs = 300;

/** Fills the backlog of a stopped process until a connection gets no answer any more. */
export async function startFullBacklog(): Promise<FullBacklog> {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  child.kill('SIGSTOP');
  const sockets: Socket[] = [];
  for (let isFull = false; !isFull && sockets.length < 20;) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined); // the end of the test
    sockets.push(socket);
    isFull = await Promise.race([
      once(socket, 'connect').then(() => false),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(true), patienceMs)),
    ]);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      for (const socket of sockets) {
        socket.destroy();
      }
      child.kill('SIGKILL');
    },
  };
}
