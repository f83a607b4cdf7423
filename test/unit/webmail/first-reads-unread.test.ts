import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { SILENCE_MS } from '../../../src/jmap/http-exchange.ts';
import { jmapRoutes } from '../../../src/jmap/routes.ts';
import { consentWorld, type ConsentWorld } from '../../support/consent-world.ts';

/** More than the sockets of both sides take without a reader. */
const FILLER = 'x'.repeat(32 * 1024 * 1024);

/** Header of a page of web mail that somebody has opened. */
async function pageCookie(box: ConsentWorld): Promise<string> {
  const { visitor } = await box.someone('member', 1, [box.anna]);
  await visitor.post('/mail/open', { form: await visitor.formToken('/account'), mailbox: `mbx_${box.anna}` });
  return `Cookie: mailstead-mail=${visitor.cookieOf('mailstead-mail')}\r\nSec-Fetch-Site: same-origin`;
}

test('a client that asks for the first reads of a page and does not read them is disconnected', async () => {
  await using box = await consentWorld();
  const app = Fastify();
  const reads = () => Promise.resolve({ more: { filler: FILLER }, requests: [] });
  await app.register(async (inner) => jmapRoutes(box.world, reads)(inner as never));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { promise: limited, resolve } = Promise.withResolvers<Socket>();
  app.server.on('connection', (socket: Socket) => {
    const setTimeout = socket.setTimeout.bind(socket);
    socket.setTimeout = (ms, ...more) => {
      if (ms === SILENCE_MS) resolve(socket);
      return setTimeout(ms === SILENCE_MS ? 50 : ms, ...more);
    };
  });
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  client.write(`GET /mail/jmap/first HTTP/1.1\r\nHost: box\r\n${await pageCookie(box)}\r\n\r\n`);
  await once(await limited, 'close');
  let octets = 0;
  client.on('data', (chunk: Buffer) => (octets += chunk.length)).resume();
  await once(client, 'close');
  expect(octets).toBeLessThan(FILLER.length);
  await app.close();
});
