import Fastify from 'fastify';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { originForm, refuseAmbiguous } from '../../../src/http/request-target.ts';

test.each([
  ['/a?b', '/a?b'],
  ['//a', '//a'],
  ['http://x.example/a?b#c', '/a?b'],
  ['HTTPS://x.example', '/'],
  ['https://x.example?b', '/?b'],
  ['http://[/a', '/a'],
  ['*', '/*'],
  ['ftp://x.example/a', '/ftp://x.example/a'],
  ['', '/'],
])('the path of %s is %s', (url, path) => {
  expect(originForm({ url })).toBe(path);
});

test('a request with two Host fields, or with an upgrade and chunks, is refused', async () => {
  const app = Fastify();
  refuseAmbiguous(app);
  app.get('/', async () => 'ok');
  await app.listen({ host: '127.0.0.1', port: 0 });
  const ask = async (head: string): Promise<string> => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`GET / HTTP/1.1\r\n${head}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString().slice(0, 12);
  };
  expect(await ask('Host: x\r\nHostess: y\r\n')).toBe('HTTP/1.1 200');
  expect(await ask('Host: x\r\nhost: y\r\n')).toBe('HTTP/1.1 400');
  // Node would read nothing more of the connection, for 5 minutes.
  const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n';
  expect(await ask(`${upgrade}Transfer-Encoding: chunked\r\n`)).toBe('HTTP/1.1 400');
  expect(await ask(`${upgrade}Content-Length: 0\r\n`)).toBe('HTTP/1.1 200');
  await app.close();
});
