import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { message } from '../../bench/lib/messages.ts';
import { quiet } from '../../mail/log.ts';
import { TextIndex } from '../../mail/store/search/text-index.ts';
import { copyEntries, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { type StatementCounts, probeStatements } from '../support/statement-probe.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

const OCTETS = 4096;
const MESSAGES = 50;
/** Pages that several messages in one commit write once, at most. */
const SHARED_PAGES = 30;

const ANY = { unchangedSince: null };

let box: TestStore;
let account: number;
let inbox: number;
let probe: Disposable;
const counts: StatementCounts = { statements: 0, commits: 0, pages: 0 };

beforeEach(async () => {
  probe = probeStatements(counts);
  box = await testStore();
  ({ account, inbox } = await testAccount(box.store));
  // The first messages fill the first pages of each index.
  for (let n = 0; n < MESSAGES; n++) await deliverOne(n, null);
});

afterEach(async () => {
  await box[Symbol.asyncDispose]();
  probe[Symbol.dispose]();
});

function deliverOne(n: number, trust: object | null): Promise<void> {
  // A run of its own for each: none answers another.
  const text = String(message(n, OCTETS, `cost${n}`));
  return deliverMail(box.store, { account, to: 'me@box.test', trust }, text);
}

/** Costs of `work`, divided by the number of units. */
async function costOf(units: number, work: () => unknown): Promise<StatementCounts> {
  const before = { ...counts };
  await work();
  return {
    statements: (counts.statements - before.statements) / units,
    commits: (counts.commits - before.commits) / units,
    pages: (counts.pages - before.pages) / units,
  };
}

const numbers = Array.from({ length: MESSAGES }, (_, n) => MESSAGES + n);

async function oneByOne(trust: object | null): Promise<void> {
  for (const n of numbers) await deliverOne(n, trust);
}

async function combined(trust: object | null): Promise<void> {
  await Promise.all(numbers.map((n) => deliverOne(n, trust)));
}

// Pages of 1 KiB. Upper bounds with a margin of about 5 %: a feature that adds a row to every message shows here.
test.each([
  ['one by one, without a verdict', oneByOne, null, { statements: 12, pages: 22.5 }],
  ['one by one, with a verdict', oneByOne, {}, { statements: 13, pages: 23.5 }],
  ['in one commit, without a verdict', combined, null, { statements: 10.5, pages: 6.3 }],
  ['in one commit, with a verdict', combined, {}, { statements: 11.5, pages: 6.6 }],
])('the commit of a message of 4 KiB: %s', async (_what, work, trust, most) => {
  const { statements, pages, commits } = await costOf(MESSAGES, () => work(trust));
  // A batch of the writer ends after 20 ms: on a busy machine the messages need several, and each begins its pages anew.
  const moreCommits = work === combined ? commits - 1 / MESSAGES : 0;
  expect(statements).toBeLessThanOrEqual(most.statements + 3 * moreCommits);
  expect(pages).toBeLessThanOrEqual(most.pages + SHARED_PAGES * moreCommits);
});

test('the text index of a message of 4 KiB', async () => {
  const { dataDir, store } = box;
  const place = {
    path: join(dataDir, 'text.db'),
    database: join(dataDir, 'mailstead.db'),
    blobs: store.files.directory,
  };
  for (let run = 0; run < 4; run++) await combined(null);
  const index = new TextIndex(place, quiet);
  const before = octetsWritten();
  const cost = await costOf(5 * MESSAGES, () => {
    while (index.step() > 0);
  });
  const octets = (octetsWritten() - before) / (5 * MESSAGES);
  index.close();
  expect(cost.statements).toBeLessThanOrEqual(3);
  // One transaction, each page once: in transactions of 50 it was 40 KiB.
  expect(octets).toBeLessThanOrEqual(8 * 1024);
});

/** Octets that this process has written. */
function octetsWritten(): number {
  return Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'latin1'))?.[1]);
}

test('a flag of one message', async () => {
  const uids = [7];
  const cost = await costOf(1, () =>
    box.store.write(storeFlags, {
      account,
      mailbox: inbox,
      uids,
      how: 'add',
      flags: { bits: 1, keywords: [] },
      ...ANY,
    }),
  );
  expect(cost.statements).toBeLessThanOrEqual(14);
  expect(cost.pages).toBeLessThanOrEqual(8);
});

test('the move of many messages is little more than a statement for each', async () => {
  const to = (await box.store.read(findMailbox, { account, name: 'Archive' }))?.id ?? 0;
  const uids = Array.from({ length: MESSAGES }, (_, at) => at + 1);
  const cost = await costOf(MESSAGES, () =>
    box.store.write(copyEntries, { account, mailbox: inbox, uids, to, move: true }),
  );
  expect(cost.statements).toBeLessThanOrEqual(2);
  expect(cost.pages).toBeLessThanOrEqual(3);
});
