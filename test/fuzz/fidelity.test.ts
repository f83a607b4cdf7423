import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { RawImap, type Value } from '../peers/raw-imap.ts';
import { startBox } from '../support/box.ts';
import { corpus } from '../support/corpus.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { fuzzCount } from '../support/fuzz-count.ts';
import { JmapClient, listOf } from '../support/jmap-client.ts';
import { Random } from '../support/random.ts';
import { Wire } from '../support/wire.ts';

const MESSAGES = fuzzCount(10_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
/** Concurrent readers. */
const PAGE = 500;
/** Concurrent writers: they share commits. */
const LANES = 16;

/** Words of protocols, and pieces that end or begin something in one. */
const PROTOCOL = [
  ')\r\na OK FETCH completed\r\n',
  '* 1 EXISTS\r\n* BYE\r\n',
  '* 1 FETCH (UID 1 FLAGS (\\Deleted))\r\n',
  'T0 OK done\r\n',
  '{5}\r\n',
  '~{5}\r\n',
  '\r\n+ go ahead\r\n',
  '"}]}\r\n',
  '\\u0000"],"x":[\r\n',
  'From ann@example.org Fri Nov 20 09:30:00 2026\r\n',
  '>From here\r\n',
  '\r\n.\r\n',
  '..\r\n',
  '250 2.0.0 OK\r\n',
  'DATA\r\nQUIT\r\n',
  'dsync\tx\r\n',
  'data: {}\r\n\r\nevent: state\r\n',
  '0\r\n\r\nHTTP/1.1 200 OK\r\n',
  '--b--\r\n--b\r\n',
  '\x1b[2J',
  '\xff\xfe',
];

const LINES = [
  '\r\n',
  'words',
  ' ',
  '\t',
  'Content-Type: multipart/mixed; boundary=b\r\n',
  '--b\r\n',
  'Subject: x\r\n',
  ':',
  '=',
];
const seeds = corpus()
  .map(({ bytes }) =>
    bytes
      .toString('latin1')
      .replace(/\r\n?|\n/g, '\r\n')
      .replaceAll('\0', ''),
  )
  .filter((text) => text.length > 1 && text.length < 4000);

/** A piece of real mail, of protocols and of nonsense, with line ends as IMAP has them. */
function message(random: Random): Buffer {
  const pieces = Array.from({ length: 1 + random.below(8) }, () => {
    if (random.chance(0.3)) return random.one(PROTOCOL);
    if (random.chance(0.4)) return random.one(LINES);
    const text = random.one(seeds);
    const at = random.below(text.length);
    return text.slice(at, at + random.below(800));
  });
  const text = `From: a@far.example\r\n${pieces.join('')}`.replace(/\r(?!\n)|(?<!\r)\n/g, '');
  return Buffer.from(text, 'latin1');
}

const sha256 = (octets: Buffer | string): string =>
  createHash('sha256')
    .update(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets)
    .digest('hex');

const textOf = (value: Value | undefined): string | undefined =>
  typeof value === 'object' && value !== null && 'text' in value ? value.text : undefined;

test(`${MESSAGES} messages come back octet for octet, whatever stands in them, seed ${SEED}`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const random = new Random(SEED);
  const hashes: string[] = [];
  const lane = async (): Promise<void> => {
    using wire = await Wire.open(box.port('imap'));
    await wire.line();
    wire.send(`a LOGIN ${box.address} ${box.password}\r\n`);
    while (!(await wire.line())?.startsWith('a ')) continue;
    while (hashes.length < MESSAGES) {
      const octets = message(random);
      hashes.push(sha256(octets));
      wire.send(Buffer.concat([Buffer.from(`m APPEND INBOX {${octets.length}+}\r\n`), octets, Buffer.from('\r\n')]));
      expect(await wire.line()).toMatch(/^m OK \[APPENDUID /);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  using client = await RawImap.open({ port: box.port('imap'), user: box.address, pass: box.password });
  await client.command('SELECT INBOX');
  const found: string[] = [];
  for (let at = 0; at < MESSAGES; at += PAGE) {
    const page = await client.fetch(`${at + 1}:${at + PAGE} (RFC822.SIZE ENVELOPE BODYSTRUCTURE BODY.PEEK[])`);
    for (const item of page.values()) {
      const text = textOf(item['BODY[]']) ?? '';
      found.push(sha256(text));
      expect(Number(item['RFC822.SIZE'])).toBe(text.length);
    }
  }
  expect(found.sort()).toEqual(hashes.toSorted());
  const jmap = await JmapClient.discover(`http://127.0.0.1:${box.port('http')}`, {
    user: box.address,
    password: box.password,
  });
  const { ids } = await jmap.call('Email/query', { limit: 200 });
  const said = await jmap.call('Email/get', {
    ids,
    properties: ['size', 'blobId', 'preview'],
    fetchAllBodyValues: true,
  });
  const known = new Set(hashes);
  for (const { blobId } of listOf(said)) expect(known).toContain(sha256(await jmap.download(String(blobId))));
  console.log(`${MESSAGES} messages, ${new Set(hashes).size} different, 0 of them changed; seed ${SEED}`);
});
