import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, test, vi } from 'vitest';
import { Connection } from '../../../mail/relay/connection.ts';

afterEach(() => void vi.useRealTimers());

test('a server that goes on talking after QUIT is left after five seconds', async () => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const chatter = setInterval(() => socket.write('250 And another thing\r\n'), 5);
    socket.on('error', () => undefined);
    socket.on('close', () => clearInterval(chatter));
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const { port } = server.address() as AddressInfo;
  const connection = await Connection.dial({ name: 'mx.test', ip: '127.0.0.1', port }, 5000);
  if (!(connection instanceof Connection)) throw new Error(connection.why);
  const [socket] = await accepted;
  const gone = new Promise((resolve) => socket.on('close', resolve)); // an error may come first
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  connection.quit();
  vi.advanceTimersByTime(5000);
  await gone;
  server.close();
});
