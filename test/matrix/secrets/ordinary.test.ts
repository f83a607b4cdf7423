import { expect, test } from 'vitest';
import { corpus } from '../../support/corpus.ts';
import { spamCorpus } from '../../support/corpus/spam-corpus.ts';
import { secretsOf } from '../../support/secret-mail.ts';

/** Mail with a secret, as far as `kinds` are not expected in it. */
async function blocked(mails: readonly Buffer[], expected: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const octets of mails) {
    const kinds = (await secretsOf(octets)).filter((kind) => !expected.includes(kind));
    if (kinds.length > 0) found.push(`${kinds.join(' ')}\n${octets.toString('latin1').slice(0, 2000)}`);
  }
  return found;
}

test('wanted mail holds no secrets and no invisible characters', { timeout: 240_000 }, async () => {
  const wanted = spamCorpus(3, 700).filter(({ junk }) => !junk);
  expect(wanted.length).toBeGreaterThan(300);
  expect(
    await blocked(
      wanted.map(({ octets }) => octets),
      [],
    ),
  ).toEqual([]);
});

test('junk and hostile mail holds no secrets; some of it has invisible characters', { timeout: 240_000 }, async () => {
  const junk = spamCorpus(3, 700).filter((mail) => mail.junk);
  const mails = [...corpus().map(({ bytes }) => bytes), ...junk.map(({ octets }) => octets)];
  expect(await blocked(mails, ['invisible'])).toEqual([]);
});

const FROM = 'From: me@box.test\r\nTo: you@else.test\r\n';

test.each([
  ['digests', 'a'.repeat(32), 'b'.repeat(40), '0'.repeat(64), 'c'.repeat(96)],
  ['a word like the prefix', 'At 9 MST Anna deals with a face cafe decade: mst_ tokens are secret, whsec_ too'],
  ['the digits of a code in a longer number', '+49 30 4815162342 and 1481516 and 4815-16230'],
  ['a link to the same site', 'https://shop.example/verify and https://shop.example/?from=mail'],
  ['what stays of a masked token', 'mst_012345 and mst_ek_0123'],
])('%s are no secrets', async (_, ...texts) => {
  expect(await secretsOf(Buffer.from(`${FROM}\r\n${texts.join(' ')}\r\n`))).toEqual([]);
});

test('an id of a message that is answered is taken for no token', async () => {
  const id = `<${'ab'.repeat(24)}@else.test>`;
  expect(await secretsOf(Buffer.from(`${FROM}In-Reply-To: ${id}\r\nReferences: ${id}\r\n\r\nText\r\n`))).toEqual([]);
  expect(await secretsOf(Buffer.from(`${FROM}X-Id: ${id}\r\n\r\nText\r\n`))).toEqual(['token']);
});

test('large mail is gone through with time for others', { timeout: 240_000 }, async () => {
  const body = 'Some words, 1234 of them: a%20b =20 &amp; \\u0041 QUJDREVGRw==\r\n'.repeat(50_000);
  const octets = Buffer.from(`${FROM}\r\n${body}mst_${'0'.repeat(48)}\r\n`);
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  expect(await secretsOf(octets)).toEqual(['token']);
  over = true;
  expect(turns).toBeGreaterThan(20);
});
