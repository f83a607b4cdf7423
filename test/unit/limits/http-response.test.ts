import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { responseTo } from '../../../mail/limits/http-response.ts';
import { Poster } from '../../../src/webhooks/post.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** A server that answers each request with these octets, and keeps the connection open. */
async function serve(octets: string): Promise<number> {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(octets));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

test.each([
  ['101 Switching Protocols', SWITCH, 'no response'],
  ['interim responses without end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000), 'too many interim responses'],
  ['no HTTP', '220 mail.example ESMTP\r\n', 'Parse Error'],
])('%s is an error', async (_what, octets, error) => {
  const port = await serve(octets);
  await expect(responseTo(request({ port, host: '127.0.0.1', agent: false }).end())).rejects.toThrow(error);
});

test('a response after some interim responses is the response', async () => {
  const port = await serve(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3)}HTTP/1.1 204 No Content\r\n\r\n`);
  const sent = request({ port, host: '127.0.0.1', agent: false }).end();
  expect((await responseTo(sent)).statusCode).toBe(204);
  sent.destroy();
});

test('a webhook receiver that answers 101 gave no answer', async () => {
  const port = await serve(SWITCH);
  using poster = new Poster();
  const posting = {
    url: new URL(`http://hook.test:${port}/`),
    ip: '127.0.0.1',
    headers: {},
    body: new Uint8Array(),
  };
  const never = new AbortController().signal;
  expect(await poster.post(posting, never)).toMatchObject({ status: null, problem: 'no response' });
});
