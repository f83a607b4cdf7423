import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { TrainingJob } from '../../mail/jobs/training.ts';
import { quiet } from '../../mail/log.ts';
import { purgeRemovedAccount, removeAccount } from '../../mail/store/account/account-removal.ts';
import { type SetChange, changeEmails } from '../../mail/store/message/email-change-commands.ts';
import { command } from '../../mail/store/engine/types.ts';
import type { NamedFlags } from '../../mail/store/mailbox/flags.ts';
import {
  deleteTrainingSamples,
  nextTrainingSamples,
  recordKeptMail,
  recordTrainingSamples,
} from '../../mail/store/filter/training-sample.ts';
import { sampleWords } from '../../mail/store/filter/sample-words.ts';
import { reputationOf } from '../../mail/store/filter/sender.ts';
import { WORD_ROWS, wordWeights, trainSample } from '../../mail/store/filter/words.ts';
import { MAX_STORED_WORDS, sweepWords } from '../../mail/store/filter/word-sweep.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import type { SampleCategory } from '../../mail/store/filter/sender-sample.ts';
import { finishAppend } from '../support/finish-append.ts';

const DAY_MS = 86_400_000;
const SEEN = 1;

/** Writes that no endpoint makes. */
const say = command('say', (tx, what: { account: number; emails: number[]; says: SampleCategory }) =>
  recordTrainingSamples(tx, what.account, what.emails, what.says),
);
const fill = command('fill', async (tx, what: { account: number; from: number; count: number; junk: number }) => {
  await tx.run(
    `WITH RECURSIVE n (hash) AS (SELECT ?2 UNION ALL SELECT hash + 1 FROM n WHERE hash < ?2 + ?3 - 1)
     INSERT INTO word (account_id, hash, junk, good) SELECT ?1, hash, ?4, 0 FROM n`,
    what.account,
    what.from,
    what.count,
    what.junk,
  );
  await tx.run(
    `INSERT INTO word_corpus (account_id, junk, words, sampled_until) VALUES (?1, 1, ?2, 0)
     ON CONFLICT (account_id) DO UPDATE SET words = words + ?2`,
    what.account,
    what.count,
  );
});
const classifier = command('judge', (tx, what: { email: number; senders: string[] }) =>
  tx
    .run(
      "INSERT INTO filter_result (email_id, trust, verdict, senders) VALUES (?, '{}', '{}', ?)",
      what.email,
      JSON.stringify(what.senders),
    )
    .then(() => undefined),
);
const dismiss = command('dismiss', removeAccount);

interface Person {
  account: number;
  imap: StoreBackend;
  /** Row of a mailbox by name. */
  box(name: string): Promise<number>;
}

let box: TestStore;
let me: Person;

async function openStore(): Promise<void> {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, say, fill, classifier, dismiss] });
}

/** A store of its own for each test. */
function alone(): void {
  beforeEach(async () => {
    await openStore();
    me = await person('me');
  });
  afterEach(() => box[Symbol.asyncDispose]());
}

async function person(local: string): Promise<Person> {
  const { account } = await testAccount(box.store, local);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  return { account, imap, box: async (name) => (await imap.mailbox(name))?.id ?? 0 };
}

/** Puts a message somewhere, and answers its UID. */
async function put(
  { imap }: Person,
  text: string,
  mailbox = 'INBOX',
  bits = SEEN,
  keywords: string[] = [],
): Promise<number> {
  const sink = imap.append(100);
  if ('kind' in sink) throw new Error(sink.kind);
  await sink.write(Buffer.from(`From: ann@remote.example\r\nSubject: Hello\r\n\r\n${text}\r\n`));
  const done = await finishAppend(imap, sink, { mailbox, flags: { bits, keywords }, receivedAt: box.clock.now });
  if (done.kind !== 'appended') throw new Error(done.kind);
  return done.uid;
}

async function move(who: Person, uids: number[], from: string, to: string, takeOut = true): Promise<number[]> {
  const moved = await who.imap.copy(await who.box(from), uids, to, takeOut);
  if (moved.kind !== 'done') throw new Error(moved.kind);
  return moved.to;
}

/** Training samples of an account that wait for the training job. */
async function waiting({ account }: Person): Promise<string[]> {
  const next = await box.store.read(nextTrainingSamples, { after: account - 1, limit: 100 });
  return next?.account === account ? next.samples.map(({ category: says }) => says) : [];
}

async function learnAll(): Promise<void> {
  const trainer = new TrainingJob({ store: box.store, log: quiet, wordsOf: sampleWords });
  await trainer.run();
}

/** All that the accounts remember, as it lies in the tables. */
function memory(): {
  words: Record<string, unknown>[];
  accounts: Record<string, unknown>[];
  learned: Record<string, unknown>[];
} {
  const db = new DatabaseSync(box.store.database, { readOnly: true });
  const all = (sql: string): Record<string, unknown>[] => db.prepare(sql).all();
  const found = {
    words: all('SELECT * FROM word WHERE junk > 0 OR good > 0 ORDER BY account_id, hash'),
    accounts: all('SELECT account_id, junk, good, junk_samples, good_samples FROM word_corpus ORDER BY account_id'),
    learned: all('SELECT email_id, category AS says, weight FROM trained_sample ORDER BY email_id'),
  };
  db.close();
  return found;
}

/** The keywords of the first message of the account. */
async function changeKeywords(change: SetChange<string[]>): Promise<void> {
  const flags = (keywords: string[]): NamedFlags => ({ bits: 0, keywords });
  const keywords: SetChange<NamedFlags> =
    change.kind === 'replace'
      ? { kind: 'replace', all: flags(change.all) }
      : { kind: 'patch', add: flags(change.add), remove: flags(change.remove) };
  const changes = [{ email: me.account * 2 ** 32 + 1, keywords, mailboxes: null }];
  const done = await box.store.write(changeEmails, { account: me.account, changes, ifState: null });
  expect(done).toMatchObject({ kind: 'done', outcomes: [{ kind: 'changed' }] });
}

describe('a training sample is', () => {
  let people = 0;
  beforeAll(openStore);
  beforeEach(async () => {
    me = await person(`me${++people}`);
  });
  afterAll(() => box[Symbol.asyncDispose]());

  test.each<[string, string, boolean, number, string[]]>([
    ['INBOX', 'Junk', true, 0, ['junk']],
    ['INBOX', 'Junk', false, 0, ['junk']],
    ['Archive', 'Junk', true, 0, ['junk']],
    ['Junk', 'INBOX', true, 0, ['good']],
    ['Junk', 'INBOX', false, 0, ['good']],
    ['Junk', 'Archive', true, 0, ['good']],
    ['Junk', 'Trash', true, 0, []],
    ['Junk', 'Junk', false, 0, []],
    ['INBOX', 'Archive', true, SEEN, ['good']],
    ['INBOX', 'Archive', true, 0, []],
    ['INBOX', 'Trash', true, SEEN, []],
    ['Trash', 'INBOX', true, SEEN, []],
    ['Archive', 'INBOX', true, SEEN, []],
  ])('IMAP from %s to %s, taken out %s, flags %d: %j', async (from, to, takeOut, bits, said) => {
    const uid = await put(me, 'hello', from, bits);
    await move(me, [uid], from, to, takeOut);
    expect(await waiting(me)).toEqual(said);
  });

  test.each<[string[], string[], string[]]>([
    [['INBOX'], ['Junk'], ['junk']],
    [['INBOX'], ['INBOX', 'Junk'], ['junk']],
    [['Junk'], ['INBOX'], ['good']],
    [['Junk', 'INBOX'], ['INBOX'], ['good']],
    [['Junk'], ['Trash'], []],
    [['INBOX'], ['Archive'], ['good']],
    [['INBOX'], ['INBOX', 'Archive'], []],
    [['Archive'], ['INBOX'], []],
  ])('JMAP from %j to %j: %j', async (from, to, said) => {
    const uid = await put(me, 'hello', from[0]);
    for (const also of from.slice(1)) await move(me, [uid], from[0] ?? '', also, false);
    await learnAll();
    const email = me.account * 2 ** 32 + 1;
    const all = await Promise.all(to.map((name) => me.box(name)));
    const change = { email, keywords: null, mailboxes: { kind: 'replace' as const, all } };
    const done = await box.store.write(changeEmails, { account: me.account, changes: [change], ifState: null });
    expect(done).toMatchObject({ kind: 'done', outcomes: [{ kind: 'changed' }] });
    expect(await waiting(me)).toEqual(said);
  });

  test.each<[string[], 'add' | 'remove' | 'replace', string[], string[]]>([
    [[], 'add', ['$Junk'], ['junk']],
    [[], 'add', ['$phishing'], ['junk']],
    [[], 'replace', ['$NotJunk', 'other'], ['good']],
    [['$Junk'], 'add', ['$Junk'], []],
    [['$Junk'], 'remove', ['$Junk'], []],
    [['$Junk'], 'add', ['$NotJunk'], []],
    [['$Junk', '$NotJunk'], 'remove', ['$Junk'], ['good']],
    [['$Junk', '$Phishing', '$NotJunk'], 'remove', ['$Junk'], []],
    [['$Junk', '$NotJunk'], 'remove', ['$NotJunk'], ['junk']],
    [['$Junk', '$NotJunk'], 'replace', ['$NotJunk'], ['good']],
    [['$Junk', '$Phishing'], 'remove', ['$Phishing'], []],
    [['$NotJunk'], 'remove', ['$NotJunk'], []],
    [['$NotJunk', 'other'], 'remove', ['other'], []],
    [['$Junk'], 'replace', ['$NotJunk'], ['good']],
    [[], 'add', ['Junk', 'NonJunk'], []],
  ])('a message with %j that is reported to %s %j: %j', async (before, how, keywords, said) => {
    const uid = await put(me, 'hello', 'INBOX', 0, before);
    await me.imap.store(await me.box('INBOX'), [uid], how, { bits: 0, keywords });
    expect(await waiting(me)).toEqual(said);
  });

  test.each<[string, string[], SetChange<string[]>, string[]]>([
    ['not junk', ['$Junk'], { kind: 'patch', add: ['$NotJunk'], remove: ['$Junk'] }, ['good']],
    ['junk', ['$NotJunk'], { kind: 'patch', add: ['$Junk'], remove: ['$NotJunk'] }, ['junk']],
    ['not junk', ['$Junk', 'other'], { kind: 'replace', all: ['$NotJunk', 'other'] }, ['good']],
    ['junk', ['$NotJunk'], { kind: 'replace', all: ['$Junk'] }, ['junk']],
    ['nothing any more', ['$Junk'], { kind: 'patch', add: [], remove: ['$Junk'] }, []],
  ])('JMAP that says "%s" of a message with %j', async (_, before, change, said) => {
    await put(me, 'hello', 'Junk', 0, before);
    await changeKeywords(change);
    expect(await waiting(me)).toEqual(said);
  });

  test('one, where a message is marked and moved', async () => {
    const uid = await put(me, 'hello', 'Junk', 0, ['$Junk']);
    const junk = await me.box('Junk');
    await me.imap.store(junk, [uid], 'add', { bits: 0, keywords: ['$NotJunk'] });
    expect(await waiting(me)).toEqual([]);
    await me.imap.store(junk, [uid], 'remove', { bits: 0, keywords: ['$Junk'] });
    await move(me, [uid], 'Junk', 'INBOX');
    expect(await waiting(me)).toEqual(['good']);
    await learnAll();
    expect(memory().accounts.find(({ account_id }) => account_id === me.account)).toMatchObject({ good_samples: 1 });
  });

  test('nothing that somebody brings, or throws away', async () => {
    const uid = await put(me, 'hello', 'Junk', 0, ['$Junk']);
    const junk = await me.box('Junk');
    await me.imap.store(junk, [uid], 'add', { bits: 16, keywords: [] });
    await me.imap.expunge(junk, [uid]);
    expect(await waiting(me)).toEqual([]);
  });
});

describe('what is learned', () => {
  alone();

  test('is counted by word, and a change of mind leaves nothing behind', async () => {
    const [one, two] = [await put(me, 'cheap pills'), await put(me, 'lunch on monday')];
    await move(me, [two], 'INBOX', 'Archive');
    await learnAll();
    const before = memory();
    expect(before.accounts).toMatchObject([{ junk: 0, good: 1, good_samples: 1 }]);

    const [there = 0] = await move(me, [one], 'INBOX', 'Junk');
    await learnAll();
    expect(memory().accounts).toMatchObject([{ junk: 1, good: 1, junk_samples: 1, good_samples: 1 }]);
    expect(memory().words.length).toBeGreaterThan(before.words.length);

    await move(me, [there], 'Junk', 'Archive');
    await learnAll();
    const turned = memory();
    expect(turned.accounts).toMatchObject([{ junk: 0, good: 2, junk_samples: 0, good_samples: 2 }]);
    expect(turned.words.every(({ junk }) => junk === 0)).toBe(true);
    expect(turned.learned).toMatchObject([{ says: 'good' }, { says: 'good' }]);
  });

  test('is learned once, however often it is taken up', async () => {
    await move(me, [await put(me, 'cheap pills')], 'INBOX', 'Junk');
    const next = await box.store.read(nextTrainingSamples, { after: 0, limit: 1 });
    const email = next?.samples[0]?.email ?? 0;
    const training = { account: me.account, email, says: 'junk', words: [1, 2, 3] } as const;
    expect(await Promise.all([box.store.write(trainSample, training), box.store.write(trainSample, training)])).toEqual(
      ['learned', 'stale'],
    );
    expect(memory().accounts).toMatchObject([{ junk: 1, junk_samples: 1 }]);
    // The same was said again: by a keyword now.
    await box.store.write(say, { account: me.account, emails: [email], says: 'junk' });
    expect(await box.store.write(trainSample, training)).toBe('known');
    expect(memory().accounts).toMatchObject([{ junk: 1, junk_samples: 1 }]);
  });

  test('waits in its row while nothing can be learned, over a restart', async () => {
    await move(me, [await put(me, 'cheap pills')], 'INBOX', 'Junk');
    await box.reopen();
    expect(await waiting(me)).toEqual(['junk']);
    await learnAll();
    expect(memory().accounts).toMatchObject([{ junk: 1 }]);
    expect(await waiting(me)).toEqual([]);
  });

  test('is read mail that lay in the inbox for a week, once somebody has begun to teach', async () => {
    await put(me, 'was kept');
    await put(me, 'was not read', 'INBOX', 0);
    box.clock.now += 8 * DAY_MS;
    await put(me, 'is new');
    expect(await box.store.write(recordKeptMail, undefined)).toBe(false);
    await move(me, [await put(me, 'was junk')], 'INBOX', 'Junk');
    await learnAll();
    while (await box.store.write(recordKeptMail, undefined));
    expect(await waiting(me)).toEqual(['kept']);
    await learnAll();
    expect(memory().accounts).toMatchObject([{ junk: 1, good: 0.5 }]);
    while (await box.store.write(recordKeptMail, undefined));
    expect(await waiting(me)).toEqual([]);
  });

  test('is what was said last, when the job comes to it', async () => {
    const [there = 0] = await move(me, [await put(me, 'hello')], 'INBOX', 'Junk');
    const early = await box.store.read(nextTrainingSamples, { after: 0, limit: 1 });
    await move(me, [there], 'Junk', 'INBOX');
    const email = early?.samples[0]?.email ?? 0;
    expect(await box.store.write(trainSample, { account: me.account, email, says: 'junk', words: [1] })).toBe('stale');
    await learnAll();
    expect(memory().accounts).toMatchObject([{ junk: 0, good: 1 }]);
  });

  test('is nobody else’s', async () => {
    const other = await person('other');
    await put(other, 'cheap pills');
    await move(me, [await put(me, 'cheap pills')], 'INBOX', 'Junk');
    await learnAll();
    const words = memory().words.map(({ hash }) => Number(hash));
    expect((await box.store.read(wordWeights, { account: me.account, words })).words).toHaveLength(words.length);
    expect(await box.store.read(wordWeights, { account: other.account, words })).toEqual({
      junk: 0,
      good: 0,
      words: [],
    });
  });

  test('one that cannot be read, twice, keeps back none behind it', async () => {
    const uids = [await put(me, 'one'), await put(me, 'two')];
    await move(me, uids, 'INBOX', 'Junk');
    let tries = 0;
    const trainer = new TrainingJob({
      store: box.store,
      log: quiet,
      wordsOf: (source) => {
        const isFirst = Buffer.from(source.octets).includes('one\r\n');
        if (!isFirst) return sampleWords(source);
        tries++;
        throw new Error('unreadable');
      },
    });
    await trainer.run();
    expect(tries).toBe(2);
    expect(memory().accounts).toMatchObject([{ junk: 1 }]);
    expect(await waiting(me)).toEqual([]);
  });

  test('what failed once is learned the next time: it may have been the fault of another', async () => {
    const uids = [await put(me, 'one'), await put(me, 'two')];
    await move(me, uids, 'INBOX', 'Junk');
    let tries = 0;
    const trainer = new TrainingJob({
      store: box.store,
      log: quiet,
      wordsOf: (source) => {
        if (tries++ > 0) return sampleWords(source);
        throw new Error('the judge ended');
      },
    });
    await trainer.run();
    expect(memory().accounts).toMatchObject([{ junk: 2 }]);
    expect(await waiting(me)).toEqual([]);
  });

  test('what is said twice counts once for who sent it', async () => {
    await move(me, [await put(me, 'one')], 'INBOX', 'Junk');
    const email = (await box.store.read(nextTrainingSamples, { after: 0, limit: 1 }))?.samples[0]?.email ?? 0;
    const senders = ['d:sender.example'];
    await box.store.write(classifier, { email, senders });
    await learnAll();
    await box.store.write(say, { account: me.account, emails: [email], says: 'junk' });
    await learnAll();
    const about = { account: me.account, keys: senders, author: '', now: box.clock.now };
    expect((await box.store.read(reputationOf, about)).own).toMatchObject([{ junked: 1 }]);
  });

  test('what is said twice of a message that teaches nothing counts once for who sent it, and a change of mind still counts', async () => {
    const uid = await put(me, 'one', 'Junk');
    const [there = 0] = await move(me, [uid], 'Junk', 'INBOX');
    const email = (await box.store.read(nextTrainingSamples, { after: 0, limit: 1 }))?.samples[0]?.email ?? 0;
    const senders = ['d:sender.example'];
    await box.store.write(classifier, { email, senders });
    // The training job drops samples that a well-trained filter classified correctly without a doubt.
    const drop = { account: me.account, samples: [{ email, says: 'good' as const }] };
    await box.store.write(deleteTrainingSamples, drop);
    await box.store.write(say, { account: me.account, emails: [email], says: 'good' });
    await box.store.write(deleteTrainingSamples, drop);
    const about = { account: me.account, keys: senders, author: '', now: box.clock.now };
    expect((await box.store.read(reputationOf, about)).own).toMatchObject([{ kept: 1 }]);
    await move(me, [there], 'INBOX', 'Junk');
    await learnAll();
    expect(memory().accounts).toMatchObject([{ junk_samples: 1, good_samples: 0 }]);
    expect(memory().learned).toMatchObject([{ says: 'junk' }]);
  });

  test('what was given up is learned when it is said again', async () => {
    const uid = await put(me, 'one');
    const [there = 0] = await move(me, [uid], 'INBOX', 'Junk');
    const email = (await box.store.read(nextTrainingSamples, { after: 0, limit: 1 }))?.samples[0]?.email ?? 0;
    await box.store.write(deleteTrainingSamples, {
      account: me.account,
      samples: [{ email, says: 'junk', unread: true }],
    });
    expect([there > 0, memory().learned]).toEqual([true, []]);
    await box.store.write(say, { account: me.account, emails: [email], says: 'junk' });
    await learnAll();
    expect(memory().learned).toMatchObject([{ says: 'junk' }]);
  });

  test('a message that is gone teaches nothing', async () => {
    await box.store.write(say, { account: me.account, emails: [me.account * 2 ** 32 + 99], says: 'junk' });
    await learnAll();
    expect(memory().accounts).toEqual([]);
    expect(await box.store.read(nextTrainingSamples, { after: 0, limit: 1 })).toBeUndefined();
  });

  test('a large message is read from its file', async () => {
    await move(me, [await put(me, `cheap pills ${'x'.repeat(100_000)}`)], 'INBOX', 'Junk');
    await learnAll();
    expect(memory().accounts).toMatchObject([{ junk: 1 }]);
  });

  test('ten thousand messages moved at once are rows that go, and the memory keeps its bounds', async () => {
    const uids = await Promise.all(Array.from({ length: 4 }, (_, i) => put(me, `pills ${i}`)));
    await move(me, uids, 'INBOX', 'Junk');
    const emails = Array.from({ length: 10_000 }, (_, i) => me.account * 2 ** 32 + 100 + i);
    await box.store.write(say, { account: me.account, emails, says: 'junk' });
    // Whoever else has something to learn is not kept waiting behind them.
    const other = await person('other');
    await move(other, [await put(other, 'hello')], 'INBOX', 'Junk');
    const order: number[] = [];
    const trainer = new TrainingJob({
      store: box.store,
      log: quiet,
      wordsOf: (source) => {
        order.push(source.parts.length);
        return sampleWords(source);
      },
    });
    await trainer.run();
    expect(order).toHaveLength(5);
    expect(memory().accounts).toMatchObject([{ junk: 4 }, { junk: 1 }]);
    expect(await box.store.read(nextTrainingSamples, { after: 0, limit: 1 })).toBeUndefined();
  });
});

describe('the memory', () => {
  alone();

  test('fades: what was learned a thousand messages ago weighs half', async () => {
    const teach = async (email: number, words: number[]): Promise<void> => {
      await box.store.write(say, { account: me.account, emails: [email], says: 'junk' });
      await box.store.write(trainSample, { account: me.account, email, says: 'junk', words });
    };
    await teach(1, [7]);
    const batch = Array.from({ length: 999 }, (_, i) => teach(2 + i, [8]));
    await Promise.all(batch);
    const known = await box.store.read(wordWeights, { account: me.account, words: [7, 8] });
    expect(known).toEqual({
      junk: 500,
      good: 0,
      words: [
        { hash: 7, junk: 0.5, good: 0 },
        { hash: 8, junk: 499.5, good: 0 },
      ],
    });
  });

  test('lets the rarest words go when there are too many', async () => {
    const { account } = me;
    for (let at = 0; at < MAX_STORED_WORDS; at += 40_000) {
      const often = at < 80_000 ? 5 : 1;
      await box.store.write(fill, { account, from: at + 1, count: 40_000, junk: often });
    }
    expect(await box.store.write(sweepWords, undefined)).toBe(false);
    await box.store.write(fill, { account, from: 1_000_000, count: 1_000, junk: 0.2 });
    while (await box.store.write(sweepWords, undefined));
    const db = new DatabaseSync(box.store.database, { readOnly: true });
    const [left] = db.prepare('SELECT count(*) AS n, sum(junk = 5) AS often, sum(junk < 1) AS rare FROM word').all();
    const [noted] = db.prepare('SELECT words, swept_to, sweeps FROM word_corpus').all();
    db.close();
    expect(left).toMatchObject({ often: 80_000, rare: 0 });
    expect(left?.['n']).toBeLessThanOrEqual(150_000);
    expect(noted).toEqual({ words: left?.['n'], swept_to: 0, sweeps: 0 });
  }, 180_000);

  test('is looked up word by word', () => {
    const db = new DatabaseSync(box.store.database, { readOnly: true });
    const plan = (sql: string, ...params: (string | number)[]): string[] =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...params)
        .map(({ detail }) => String(detail));
    expect(plan(WORD_ROWS, '[1]', 1)).toContain('SEARCH w USING PRIMARY KEY (account_id=? AND hash=?)');
    db.close();
  });

  test('goes with the account, and nothing of it is left', async () => {
    await move(me, [await put(me, 'hello')], 'INBOX', 'Junk');
    await learnAll();
    await move(me, [await put(me, 'again')], 'INBOX', 'Junk');
    await box.store.write(dismiss, { tenant: 1, account: me.account });
    while ((await box.store.write(purgeRemovedAccount, { account: me.account })).more);
    expect(memory()).toEqual({ words: [], accounts: [], learned: [] });
    expect(await box.store.read(nextTrainingSamples, { after: 0, limit: 1 })).toBeUndefined();
  });

  test('names no word of any mail', async () => {
    await move(me, [await put(me, 'a-very-private-word')], 'INBOX', 'Junk');
    await learnAll();
    expect(memory().words.length).toBeGreaterThan(5);
    const sql = mailMigrations()[0]?.sql;
    expect(sql).toMatch(/CREATE TABLE word \(\s+account_id INTEGER NOT NULL,.*\s+hash INTEGER NOT NULL/);
    expect(JSON.stringify(memory())).not.toContain('private');
  });
});
