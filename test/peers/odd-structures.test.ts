import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type OddStructure, oddStructures } from '../support/odd-structures.ts';
import { type Dovecot, startDovecot } from './dovecot.ts';
import { RawImap } from './raw-imap.ts';
import { sectionsOf } from './sections.ts';
import { commonForm, shown } from './structure.ts';

const COUNT = 320;

let box: Box;
let dovecot: Dovecot;
let ours: RawImap;
let theirs: RawImap;
const messages = oddStructures(COUNT);

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8', SPAM_CHECKS: 'off' } });
  dovecot = await startDovecot();
  ours = await RawImap.open({ port: box.port('imaps'), tls: true, user: box.address, pass: box.password });
  theirs = await RawImap.open({ port: dovecot.port, user: 'me', pass: 'any' });
  await ours.command('CREATE Odd');
  for (const [client, mailbox] of [
    [ours, 'Odd'],
    [theirs, 'INBOX'],
  ] as const) {
    for (const { bytes } of messages) await client.command(`APPEND ${mailbox}`, bytes);
    await client.command(`SELECT ${mailbox}`);
  }
});
afterAll(async () => {
  ours[Symbol.dispose]();
  theirs[Symbol.dispose]();
  await box[Symbol.asyncDispose]();
  await dovecot[Symbol.asyncDispose]();
});

/** Features with which another answer than Dovecot's is right, and why. */
const EXPLAINED: Readonly<Record<string, string>> = {
  '8-bit subject': 'RFC 3501 4.3 has no 8-bit strings: subjects become words in UTF-8, also those of octets in Latin-1',
  'ends without a line end':
    'RFC 2046 5.1.1: the line end in front of a delimiter belongs to it; Dovecot counts it to a multipart that ends with its close delimiter',
};

const isExplained = ({ features }: OddStructure): boolean =>
  [...features].some((feature) => Object.hasOwn(EXPLAINED, feature));

test('most messages have no feature that is answered otherwise', () => {
  expect(new Set(messages.flatMap(({ features }) => [...features])).size).toBeGreaterThan(20);
  expect(messages.filter(isExplained).length).toBeLessThan(COUNT / 4);
});

test("sizes, envelopes and structures agree with Dovecot's, explained differences aside", async () => {
  const query = '1:* (RFC822.SIZE ENVELOPE BODYSTRUCTURE)';
  const [mine, other] = [await ours.fetch(query), await theirs.fetch(query)];
  expect([mine.size, other.size]).toEqual([COUNT, COUNT]);
  const differing = (item: string): OddStructure[] =>
    messages.filter((_, at) => {
      const [a, b] = [mine.get(at + 1)?.[item], other.get(at + 1)?.[item]];
      return shown(commonForm(a)) !== shown(commonForm(b));
    });
  expect(differing('RFC822.SIZE')).toEqual([]);
  for (const item of ['ENVELOPE', 'BODYSTRUCTURE']) {
    const all = differing(item);
    expect(all.filter((one) => !isExplained(one)).map(({ name }) => `${item} of ${name}`)).toEqual([]);
    // A table that explains what does not differ would hide the next difference.
    expect(all.length).toBeGreaterThan(0);
  }
});

test("every section agrees with Dovecot's, explained differences aside", async () => {
  const structures = await theirs.fetch('1:* (BODYSTRUCTURE)');
  const wrong: string[] = [];
  let count = 0;
  for (const [at, message] of messages.entries()) {
    const names = sectionsOf(structures.get(at + 1)?.['BODYSTRUCTURE'] ?? null);
    const query = `${at + 1} (${names.map((name) => `BODY.PEEK[${name}]`).join(' ')})`;
    const [mine, other] = [await ours.fetch(query), await theirs.fetch(query)];
    const sectionOf = (answers: typeof mine, name: string) => JSON.stringify(answers.get(at + 1)?.[`BODY[${name}]`]);
    const differing = names.filter((name) => sectionOf(mine, name) !== sectionOf(other, name));
    count += names.length;
    if (!message.features.has('ends without a line end'))
      wrong.push(...differing.map((name) => `${name} of ${message.name}`));
  }
  expect(count).toBeGreaterThan(3_000);
  expect(wrong).toEqual([]);
});
