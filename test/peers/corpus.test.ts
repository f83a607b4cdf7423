import type { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { BOMBS, corpus, type Sample } from '../support/corpus.ts';
import { Wire } from '../support/wire.ts';
import { EXPLAINED } from './differences.ts';
import { startDovecot } from './dovecot.ts';
import { flow, sources } from './flow.ts';
import { RawImap, type Value } from './raw-imap.ts';
import { commonForm, shown } from './structure.ts';

/** Too small to be a message for APPEND, as RFC 3502 reads it; everything else is stored. */
const EMPTY = 'empty message';
/** Has all the Received fields that a message may have. RFC 5321 6.3. */
const LOOPING = 'a hundred Received';
const big = BOMBS.find(({ name }) => name === '20 MB attachment');
const samples: Sample[] = [
  ...corpus().filter(({ name }) => name !== EMPTY),
  ...(big === undefined ? [] : [{ name: big.name, bytes: big.make() }]),
];

let box: Box;
beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8', SPAM_CHECKS: 'off' } });
});
afterAll(() => box[Symbol.asyncDispose]());

const openBox = (): Promise<RawImap> =>
  RawImap.open({ port: box.port('imaps'), tls: true, user: box.address, pass: box.password });

/** IMAP has CRLF line ends only; what came with others is stored with them. */
function normal({ bytes }: Sample): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1');
}

function textOf(value: Value | undefined): string | undefined {
  return typeof value === 'object' && value !== null && 'text' in value ? value.text : undefined;
}

async function appendAll(client: RawImap, mailbox: string, all: readonly Sample[]): Promise<void> {
  for (const { bytes } of all) await client.command(`APPEND ${mailbox}`, bytes);
  await client.command(`SELECT ${mailbox}`);
}

test('there are over 200 kinds, a large attachment among them', () => {
  expect(samples.length).toBeGreaterThan(200);
  expect(samples.at(-1)?.bytes.length).toBeGreaterThan(20_000_000);
});

test('what APPEND gave comes back byte for byte, with its size, in any piece', async () => {
  using client = await openBox();
  await client.command('CREATE Kinds');
  await appendAll(client, 'Kinds', samples);
  const wrong: string[] = [];
  for (const [at, sample] of samples.entries()) {
    const bytes = normal(sample);
    const piece = `BODY.PEEK[]<${Math.floor(bytes.length / 3)}.1000>`;
    const item = (await client.fetch(`${at + 1} (RFC822.SIZE BODY.PEEK[] ${piece} RFC822.HEADER BODY.PEEK[TEXT])`)).get(
      at + 1,
    );
    const whole = bytes.toString('latin1');
    const start = Math.floor(bytes.length / 3);
    const good =
      textOf(item?.['BODY[]']) === whole &&
      Number(item?.['RFC822.SIZE']) === bytes.length &&
      textOf(item?.[`BODY[]<${start}>`]) === whole.slice(start, start + 1000) &&
      `${textOf(item?.['RFC822.HEADER'])}${textOf(item?.['BODY[TEXT]'])}` === whole;
    if (!good) wrong.push(sample.name);
  }
  expect(wrong).toEqual([]);
});

test('imapflow takes ENVELOPE, BODYSTRUCTURE and source of every kind', async () => {
  await using client = await flow(box);
  await client.mailboxOpen('Kinds');
  const seen = new Map<number, string>();
  for await (const message of client.fetch('1:*', {
    envelope: true,
    bodyStructure: true,
    size: true,
    source: { start: 0, maxLength: 100 },
  })) {
    const good = message.envelope !== undefined && message.bodyStructure?.type !== undefined;
    seen.set(message.seq, good ? `${message.size}` : 'incomplete');
  }
  const told = samples.map((sample, at) => [sample.name, seen.get(at + 1)]);
  expect(told).toEqual(samples.map((sample) => [sample.name, `${normal(sample).length}`]));
});

test("structure and envelope agree with Dovecot's, explained differences aside", async () => {
  await using dovecot = await startDovecot();
  using theirs = await RawImap.open({ port: dovecot.port, user: 'me', pass: 'any' });
  using ours = await openBox();
  await ours.command('SELECT Kinds');
  await appendAll(theirs, 'INBOX', samples);
  const query = '1:* (ENVELOPE BODYSTRUCTURE)';
  const [mine, other] = [await ours.fetch(query), await theirs.fetch(query)];
  expect([mine.size, other.size]).toEqual([samples.length, samples.length]);
  for (const item of ['ENVELOPE', 'BODYSTRUCTURE'] as const) {
    const differing = samples.filter((_, at) => {
      const [a, b] = [mine.get(at + 1)?.[item], other.get(at + 1)?.[item]];
      return shown(commonForm(a)) !== shown(commonForm(b));
    });
    // Also what is in the table and differs no more fails: the table says what is so.
    expect(differing.map(({ name }) => name).sort()).toEqual([...EXPLAINED[item].keys()].sort());
  }
});

/** Messages that SMTP can carry unchanged. RFC 5321 2.3.7, 4.5.2. */
function fitsSmtp({ bytes }: Sample): boolean {
  const text = bytes.toString('latin1');
  return text.endsWith('\r\n') && !/\0|\r(?!\n)|(?<!\r)\n|[^\n]{65500}/.test(text);
}

async function deliver(wire: Wire, { bytes }: Sample): Promise<string> {
  await wire.command('MAIL FROM:<ann@example.org> BODY=8BITMIME');
  await wire.command(`RCPT TO:<${box.address}>`);
  await wire.command('DATA');
  wire.send(Buffer.from(bytes.toString('latin1').replace(/^\./gm, '..'), 'latin1'));
  return wire.command('.');
}

/** The lines that delivery puts in front. RFC 5321 4.4. */
const TRACE =
  /^Return-Path: <ann@example\.org>\r\nDelivered-To: me@box\.test\r\nReceived: from .*\r\n(?:[ \t].*\r\n)*$/;

test('what came over SMTP comes back exactly after the trace lines, with its size', async () => {
  const looping = samples.filter(({ name }) => name === LOOPING);
  const legal = samples.filter((sample) => fitsSmtp(sample) && sample.name !== LOOPING);
  expect(legal.length).toBeGreaterThan(samples.length * 0.8);
  const refused: [string, string][] = [];
  for (const sample of [...legal, ...looping]) {
    using wire = await Wire.open(box.port('smtp'));
    await wire.reply();
    await wire.command('EHLO client.example');
    const reply = await deliver(wire, sample);
    if (!reply.startsWith('250')) refused.push([sample.name, reply]);
  }
  expect(refused).toEqual([[LOOPING, expect.stringMatching(/^554 5\.4\.6 /)]]);
  await using client = await flow(box);
  const stored = (await sources(client)).map((source) => source.toString('latin1'));
  expect(stored.length).toBe(legal.length);
  const wrong = legal.filter(({ bytes }, at) => {
    const text = stored[at] ?? '';
    const given = bytes.toString('latin1');
    return !text.endsWith(given) || !TRACE.test(text.slice(0, text.length - given.length));
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
  const sizes = await sizesOf(client);
  expect(sizes).toEqual(stored.map((text) => text.length));
});

async function sizesOf(client: ImapFlow): Promise<number[]> {
  const lock = await client.getMailboxLock('INBOX');
  try {
    return (await client.fetchAll('1:*', { size: true })).map(({ size }) => size ?? 0);
  } finally {
    lock.release();
  }
}
