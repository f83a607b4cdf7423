import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { addDmarcResults, type CountedDmarcResult } from '../../mail/store/filter/dmarc-result.ts';
import { noteTlsResults, type TlsResult } from '../../mail/store/queue/tls-result.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { putMail } from '../support/put-mail.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

// Keys of PostgreSQL have 2,700 octets at most, which it packs: these texts cannot be packed.
const random = (octets: number): string => randomBytes(octets / 2).toString('hex');

const note = command('test-note-tls', (tx, results: readonly TlsResult[], stamp) => noteTlsResults(tx, results, stamp));
const texts = query('test-texts', (rx, sql: string) => rx.all<{ text: string }>(sql));

function world(): Promise<TestStore> {
  const parts = mailParts();
  return testStore({ ...parts, commands: [...parts.commands, note], queries: [...parts.queries, texts] });
}

test('the result of a connection is counted whatever policy its domain has', async () => {
  await using box = await world();
  const strings = ['version: STSv1', ...Array.from({ length: 40 }, () => `mx: ${random(200)}.test`)];
  const result = { domain: `${random(240)}.test`, type: 'sts', strings, result: 'success' } as const;
  await box.store.write(note, [{ ...result, mx: `${random(240)}.test`, ip: '192.0.2.1', from: '198.51.100.7' }]);
  const [row] = await box.store.read(texts, 'SELECT policy AS text FROM tls_result');
  expect(JSON.parse(row?.text ?? '')).toEqual(strings.slice(0, 7));
});

test('the DMARC result of a message is counted whatever signatures it has, the first of them by name', async () => {
  await using box = await world();
  const name = (): string => Array.from({ length: 4 }, () => random(60)).join('.');
  const dkim = Array.from({ length: 5 }, () => ({ domain: name(), selector: name(), result: 'fail' }));
  const one = { domain: name(), source: '192.0.2.1', headerFrom: name(), envelopeFrom: name(), spf: true, dkim: true };
  const auth = { spf: { domain: name(), result: 'pass' }, dkim };
  const long: CountedDmarcResult = { ...one, disposition: 'pass', reason: '', auth, messages: 1 };
  const short: CountedDmarcResult = { ...long, domain: 'other.test', auth: { dkim: [] } };
  await box.store.write(addDmarcResults, { day: 1, results: [long, short] });
  await box.store.write(addDmarcResults, { day: 1, results: [long] });
  const rows = await box.store.read(texts, 'SELECT auth AS text FROM dmarc_result ORDER BY messages DESC');
  expect(rows.map(({ text }) => JSON.parse(text) as unknown)).toEqual([
    { ...auth, dkim: dkim.slice(0, 2) },
    { dkim: [] },
  ]);
});

test('a message has as many long keywords as fit into a key, and more are refused', async () => {
  await using box = await world();
  const { account, inbox } = await testAccount(box.store);
  await putMail(box.store, { account, receivedAt: 1 }, 'Subject: x\n\nx');
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  const long = (): string => random(254);
  // 26 keywords of an account are bits.
  const keywords = Array.from({ length: 26 + 7 }, long);
  expect(await imap.store(inbox, [1], 'add', { bits: 0, keywords })).toMatchObject({ modified: [] });
  expect(await imap.store(inbox, [1], 'add', { bits: 0, keywords: [long()] })).toEqual({ kind: 'too-many-keywords' });
  expect(await imap.store(inbox, [1], 'replace', { bits: 0, keywords: [long()] })).toMatchObject({ modified: [] });
});
