import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { compress, Inflater } from '../../../mail/imap/compression.ts';
import * as fc from '../../support/fast-check.ts';
import { imapWorld, PASSWORD, USER, type ImapClient, type ImapWorld } from '../../support/imap-world.ts';

const MIB = 1024 * 1024;

async function compressed(world: ImapWorld): Promise<ImapClient> {
  const client = await world.client('INBOX');
  expect(await client.command('COMPRESS DEFLATE')).toEqual(['t OK DEFLATE active']);
  client.compress();
  return client;
}

describe('COMPRESS=DEFLATE', () => {
  test('both directions are compressed after the tagged OK, and a second COMPRESS is refused', async () => {
    await using world = await imapWorld();
    world.store.deliver('INBOX', 'Subject: x\n\nHello\n');
    const client = await compressed(world);
    expect(await client.command('FETCH 1 BODY.PEEK[TEXT]')).toEqual([
      '* 1 FETCH (BODY[TEXT] {7}',
      'Hello',
      ')',
      't OK Fetched',
    ]);
    expect(await client.command('COMPRESS DEFLATE')).toEqual(['t NO [COMPRESSIONACTIVE] DEFLATE is active already']);
  });

  test('IDLE sends each change at once', async () => {
    await using world = await imapWorld();
    const client = await compressed(world);
    client.send('a IDLE\r\n');
    expect(await client.line()).toBe('+ idling');
    world.store.deliver('INBOX', 'Subject: x\n\nHello\n');
    expect(await client.line()).toBe('* 1 EXISTS');
    client.send('DONE\r\n');
    expect(await client.line()).toMatch(/^a OK/);
  });

  test('a message of several megabytes comes whole, and one is appended', async () => {
    await using world = await imapWorld();
    const text = `Subject: x\r\n\r\n${'0123456789abcdef\r\n'.repeat(200_000)}`;
    const client = await compressed(world);
    client.send(`a APPEND INBOX {${text.length}+}\r\n${text}\r\n`);
    expect((await client.until((line) => line.startsWith('a '))).at(-1)).toMatch(/^a OK \[APPENDUID /);
    const lines = await client.command('FETCH 1 BODY.PEEK[]');
    expect(lines[0]).toBe(`* 1 FETCH (BODY[] {${text.length}}`);
    expect(lines.slice(1, -1).join('\r\n')).toBe(`${text})`);
  });

  test('over TLS, and after UNAUTHENTICATE still', async () => {
    await using world = await imapWorld({ local: false });
    const client = await world.connectTls();
    await client.command(`LOGIN ${USER} ${PASSWORD}`);
    await client.command('COMPRESS DEFLATE');
    client.compress();
    expect((await client.command('UNAUTHENTICATE')).at(-1)).toMatch(/^t OK/);
    expect((await client.command(`LOGIN ${USER} ${PASSWORD}`)).at(-1)).toMatch(/^t OK/);
    expect((await client.command('NOOP')).at(-1)).toMatch(/^t OK/);
  });

  test('data that are not compressed end the connection', async () => {
    await using world = await imapWorld();
    const client = await world.client();
    await client.command('COMPRESS DEFLATE');
    client.send(Buffer.alloc(100, 0xff));
    while (!client.closed) await client.line();
    expect(world.faults).toEqual([]);
    while (world.server.sessions > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  test('commands that expand a thousandfold wait for their turn', async () => {
    await using world = await imapWorld({ limits: { commandsEachMinute: 1_000_000 } });
    const client = await world.client();
    await client.command('COMPRESS DEFLATE');
    // The stream ends here, as with some clients.
    client.send(deflateRawSync(`${'a NOOP\r\n'.repeat(20_000)}z LOGOUT\r\n`));
    client.compress();
    const lines = await client.until((line) => line.startsWith('z '));
    expect(lines.filter((line) => line === 'a OK NOOP completed').length).toBe(20_000);
  });
});

test('an input that is paused takes little of what it is given, however much that expands to', async () => {
  let octets = 0;
  const inflater = new Inflater({
    data: (piece) => {
      octets += piece.length;
      inflater.pause();
    },
    drain: () => {},
    failed: () => {},
  });
  const bomb = deflateRawSync(Buffer.alloc(64 * MIB));
  inflater.write(bomb);
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(octets).toBeLessThan(MIB);
  inflater.close();
});

test('pieces that are compressed one by one are one stream', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 })), async (pieces) => {
      const received: Buffer[] = [];
      const inflater = new Inflater({ data: (piece) => received.push(piece), drain() {}, failed() {} });
      for (const piece of pieces) inflater.write(compress(piece));
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      while (received.reduce((sum, piece) => sum + piece.length, 0) < length) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      inflater.close();
      expect(Buffer.concat(received).equals(Buffer.concat(pieces))).toBe(true);
    }),
    { numRuns: 50 },
  );
});
