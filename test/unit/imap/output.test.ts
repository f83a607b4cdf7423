import { once } from 'node:events';
import { createServer, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Output } from '../../../mail/imap/output.ts';
import * as fc from '../../support/fast-check.ts';

/** Both ends of a connection. */
async function pair(): Promise<{ server: Socket; client: Socket }> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  const [server] = (await once(listener, 'connection')) as [Socket];
  listener.close();
  return { server, client };
}

async function sent(pieces: readonly (string | Buffer)[]): Promise<Buffer> {
  const { server, client } = await pair();
  const output = new Output(server);
  server.on('drain', () => output.onDrain());
  const octets: Buffer[] = [];
  client.on('data', (chunk: Buffer) => octets.push(chunk));
  for (const piece of pieces) {
    output.write(piece);
    await output.drained();
  }
  output.end();
  await once(client, 'end');
  client.destroy();
  return Buffer.concat(octets);
}

const size = fc.oneof(fc.nat({ max: 200 }), fc.nat({ max: 20_000 }), fc.constantFrom(16_383, 16_384, 65_536, 140_000));
const piece = fc.tuple(size, fc.boolean(), fc.nat({ max: 255 })).map(([length, isText, first]) => {
  const octets = Buffer.from(Uint8Array.from({ length }, (_, at) => first + at));
  return isText ? octets.toString('latin1') : octets;
});

test('texts and octets of any size arrive in their order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const whole = Buffer.concat(pieces.map((one) => (typeof one === 'string' ? Buffer.from(one, 'latin1') : one)));
      expect((await sent(pieces)).equals(whole)).toBe(true);
    }),
    { numRuns: 60, seed: 7 },
  );
});

test('a small response is in no batch, and counts as waiting until it is flushed', async () => {
  const { server, client } = await pair();
  const output = new Output(server);
  output.write('* OK\r\n');
  expect(output.waiting).toBe(6);
  output.write(Buffer.alloc(100, 'x'));
  expect(output.waiting).toBe(106);
  output.flush();
  const [chunk] = (await once(client, 'data')) as [Buffer];
  expect(chunk.toString()).toBe(`* OK\r\n${'x'.repeat(100)}`);
  client.destroy();
  server.destroy();
});
