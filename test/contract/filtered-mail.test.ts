import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { purgeRejects } from '../../mail/store/filter/reject.ts';
import { UNAVAILABLE_AUTHENTICATION } from '../../mail/auth/authenticate.ts';
import type { AccountFilterResult, InboundMail as Filtered, FilterResult } from '../../mail/filter/mail-filter.ts';
import { uncheckedResult } from '../../mail/filter/unchecked.ts';
import { octetsOf } from '../../mail/filter/octets.ts';
import { MAIL_POLICY } from '../../mail/policy/mail-policy.ts';
import { removeMailbox, createMailbox, listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import { copyEntries } from '../../mail/store/mailbox/entry-commands.ts';
import { query } from '../../mail/store/engine/types.ts';
import { setQuota } from '../../mail/store/account/account.ts';
import { quotaOf } from '../../mail/store/account/quota.ts';
import { filterResultsOf } from '../../mail/store/filter/filter-result.ts';
import { type TestMessage, receiveMessage, testBackend } from '../support/receive-message.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const DAY_MS = 86_400_000;
const FRAUD = { rule: 'fraud', score: 9, why: 'It pretends to be your bank', refuse: true, flag: 'phishing' };
const LETTER =
  'From: stranger@remote.example\nAuthentication-Results: mail.box.test; dmarc=pass\nSubject: hello\n\nbody\n';
const LATER = { kind: 'later', why: 'Its author could not be checked at the moment' } as const;

interface Reported {
  /** Filter results for all accounts, or for one account (`own`). */
  general?: Partial<FilterResult>;
  own?: (account: number) => Partial<AccountFilterResult>;
}

interface Row extends Record<string, string | number | null> {
  account: number;
  email: number;
  mailbox: string;
  trace: string;
  keywords: string | null;
  octets: string;
}

interface StoredRow extends Record<string, string | number | Uint8Array | null> {
  account: number;
  email: number;
  mailbox: string;
  trace: string;
  keywords: string | null;
  /** Null for a large message, which is in a file. */
  data: Uint8Array | null;
}

const stored = query('test-stored', (rx) =>
  rx.all<StoredRow>(
    `SELECT m.account_id AS account, e.id AS email, m.name AS mailbox, e.trace,
       (SELECT group_concat(k.name) FROM keyword k WHERE k.account_id = m.account_id AND n.flags & (1 << k.slot) <> 0) AS keywords,
       b.data
     FROM entry n JOIN mailbox m ON m.id = n.mailbox_id JOIN email e ON e.id = n.email_id JOIN blob b ON b.id = e.blob_id
     ORDER BY m.account_id, e.id`,
  ),
);
const blobFiles = query('test-files', (rx) => rx.all<{ file: string }>('SELECT file FROM blob WHERE file IS NOT NULL'));
const count = query('test-blobs', (rx) => rx.get<{ n: number }>('SELECT count(*) AS n FROM blob'));

describe('mail that is filtered', () => {
  let box: TestStore;
  let anna: number;
  let bob: number;
  let queried: Filtered[];

  beforeEach(async () => {
    box = await testStore();
    anna = (await testAccount(box.store, 'anna')).account;
    bob = (await testAccount(box.store, 'bob')).account;
    queried = [];
  });
  afterEach(() => box[Symbol.asyncDispose]());

  function backend({ general, own }: Reported, network = true): ReturnType<typeof testBackend> {
    const classifier = (mail: Filtered): Promise<FilterResult> => {
      queried.push(mail);
      const author = general?.author ?? ({ kind: 'pass', why: '' } as const);
      const accounts = mail.accounts.map((account) => ({
        account,
        policy: MAIL_POLICY,
        author,
        findings: [],
        known: false,
        ...own?.(account),
      }));
      return Promise.resolve({
        authentication: UNAVAILABLE_AUTHENTICATION,
        author,
        findings: [],
        senders: [],
        accounts,
        ...general,
      });
    };
    return testBackend(box, { filter: { filter: { filter: classifier }, checks: true, network, slows: () => false } });
  }

  const come = (told: Reported, more: Partial<TestMessage> = {}, network = true): ReturnType<typeof receiveMessage> =>
    receiveMessage(backend(told, network), {
      from: 'stranger@remote.example',
      to: 'anna@box.test',
      body: LETTER,
      ...more,
    });
  const rows = async (): Promise<Row[]> =>
    (await box.store.read(stored, undefined)).map(({ data, ...row }) => ({
      ...row,
      octets: Buffer.from(data ?? []).toString(),
    }));

  test('goes to the inbox, with our results and without those that it brought', async () => {
    expect(await come({})).toEqual({ kind: 'accepted' });
    const [row] = await rows();
    expect(row).toMatchObject({ account: anna, mailbox: 'INBOX', keywords: null });
    expect(row?.trace).toMatch(
      /^Return-Path: <stranger@remote\.example>\r\nDelivered-To: anna@box\.test\r\nAuthentication-Results: mail\.box\.test;[\s\S]*\r\nX-Mailstead-Verdict: inbox \(0 of 5\)\r\n$/,
    );
    expect(row?.octets).not.toContain('dmarc=pass');
    expect(row?.octets).toContain('Subject: hello');
    expect(queried).toMatchObject([{ accounts: [anna], sender: 'stranger@remote.example', checks: true }]);
    let seen = '';
    for await (const chunk of octetsOf(queried[0]?.octets ?? '')) seen += chunk.toString();
    expect(seen).toBe(row?.octets);
  });

  test('is junk for one and not for another, and says why', async () => {
    const own = (account: number): Partial<AccountFilterResult> =>
      account === bob ? { findings: [{ rule: 'words', score: 6, why: 'Its words are like those of your junk' }] } : {};
    expect(await come({ own }, { more: ['bob@box.test'] })).toEqual({ kind: 'accepted' });
    expect(await rows()).toMatchObject([
      { account: anna, mailbox: 'INBOX', keywords: null },
      { account: bob, mailbox: 'Junk', keywords: '$Junk' },
    ]);
    const [, junk] = await rows();
    expect(junk?.trace).toContain('X-Mailstead-Verdict: junk (6 of 5);\r\n\twords 6\r\n');
    const known = await box.store.read(filterResultsOf, { emails: [junk?.email ?? 0] });
    expect(known.get(junk?.email ?? 0)).toEqual({
      trust: {
        auth: { spf: 'none', dkim: 'none', dmarc: 'none' },
        alignedFrom: false,
        knownSender: false,
        verdict: 'suspicious',
        flags: [],
        externalSender: true,
      },
      verdict: {
        outcome: 'junk',
        score: 6,
        findings: [{ rule: 'words', score: 6, why: 'Its words are like those of your junk' }],
      },
    });
  });

  test('whom the account allows is let in, and marked as its own word', async () => {
    const rule = { kind: 'allow', why: 'You allowed it' } as const;
    expect(await come({ general: { findings: [FRAUD] }, own: () => ({ rule }) })).toEqual({ kind: 'accepted' });
    expect(await rows()).toMatchObject([{ mailbox: 'INBOX', keywords: '$NotJunk' }]);
  });

  test('is refused with a reason, and can be looked at for a week', async () => {
    expect(await come({ general: { findings: [FRAUD] } })).toMatchObject({ code: 550, text: FRAUD.why });
    expect(await rows()).toMatchObject([{ account: anna, mailbox: 'Rejects', keywords: '$Junk,$Phishing' }]);
    box.clock.now += 7 * DAY_MS - 1_000;
    await box.store.write(purgeRejects, undefined);
    expect(await rows()).toHaveLength(1);
    box.clock.now += 2_000;
    await box.store.write(purgeRejects, undefined);
    expect(await rows()).toEqual([]);
  });

  test('what a person takes out of Rejects stays', async () => {
    await come({ general: { findings: [FRAUD] } });
    const made = await box.store.read(listMailboxes, { account: anna });
    const idOf = (name: string): number => made.find((one) => one.name === name)?.id ?? 0;
    const way = { mailbox: idOf('Rejects'), to: idOf('INBOX'), uids: [1], move: true };
    expect(await box.store.write(copyEntries, { account: anna, ...way })).toMatchObject({ kind: 'done' });
    box.clock.now += 8 * DAY_MS;
    await box.store.write(purgeRejects, undefined);
    expect(await rows()).toMatchObject([{ mailbox: 'INBOX' }]);
  });

  test.each([
    [
      'the tenant does not want that',
      { own: () => ({ policy: { ...MAIL_POLICY, rejects: false } }), general: { findings: [FRAUD] } },
    ],
    ['the sender is blocked', { own: () => ({ rule: { kind: 'block', why: 'You blocked it' } as const }) }],
    ['it is malware', { general: { findings: [{ ...FRAUD, flag: 'malware' }] } }],
  ])('nothing of what is refused stays where %s', async (_, told: Reported) => {
    expect(await come(told)).toMatchObject({ code: 550 });
    expect(await rows()).toEqual([]);
    expect(await box.store.read(count, undefined)).toEqual({ n: 0 });
  });

  test('a flood of refused mail pushes out the oldest', async () => {
    const door = backend({ general: { findings: [FRAUD] } });
    for (let i = 0; i < 205; i++)
      await receiveMessage(door, { from: 'stranger@remote.example', to: 'anna@box.test', body: `Subject: ${i}\n\n` });
    const subjects = (await rows()).map(({ octets }) => /Subject: (\d+)/.exec(octets)?.[1]);
    expect(subjects).toHaveLength(200);
    expect(subjects[0]).toBe('5');
  });

  test('large refused mail pushes out the oldest as well, and takes no room that is needed', async () => {
    const door = backend({ general: { findings: [FRAUD] } });
    const large = `Subject: large\n\n${`${'x'.repeat(998)}\n`.repeat(12_000)}`;
    const send = (): Promise<unknown> =>
      receiveMessage(door, { from: 'x@remote.example', to: 'anna@box.test', body: large });
    for (let i = 0; i < 6; i++) await send();
    expect(await rows()).toHaveLength(4);
    const { use } = await box.store.read(quotaOf, { account: anna });
    await box.store.write(setQuota, {
      account: anna,
      bytes: (use?.usedBytes ?? 0) + 13_000_000,
    });
    expect(await send()).toMatchObject({ code: 550 });
    expect((await box.store.read(quotaOf, { account: anna })).use).toMatchObject({ usedBytes: use?.usedBytes });
  });

  test('a refused message that may have been stored keeps its file', async () => {
    const write = async (...args: Parameters<typeof box.store.write>): Promise<never> => {
      await box.store.write(...args);
      throw new Error('the answer was lost');
    };
    const unsure = new Proxy(box.store, {
      get: (store, name) => {
        const own: unknown = Reflect.get(store, name, store);
        if (name === 'write') return write;
        return typeof own === 'function' ? (own.bind(store) as unknown) : own;
      },
    });
    const { filter } = backend({ general: { findings: [FRAUD] } }).context;
    const door = testBackend(box, { store: unsure, filter });
    const body = `Subject: large\n\n${'x\n'.repeat(100_000)}`;
    expect(await receiveMessage(door, { from: 'x@remote.example', to: 'anna@box.test', body })).toMatchObject({
      code: 550,
    });
    // Files are removed in the background: by the time that another one has come and gone, it would be gone as well.
    const other = testBackend(box, {
      filter: filter && { ...filter, filter: { filter: () => Promise.reject(new Error()) } },
    });
    expect(await receiveMessage(other, { from: 'x@remote.example', to: 'anna@box.test', body })).toMatchObject({
      code: 451,
    });
    const [kept] = await box.store.read(blobFiles, undefined);
    expect(existsSync(box.store.files.path(kept?.file ?? ''))).toBe(true);
  });

  test('a mailbox of that name that a person made is left alone', async () => {
    await box.store.write(createMailbox, { account: anna, name: 'Rejects', role: null });
    await come({ general: { findings: [FRAUD] } });
    expect(await rows()).toMatchObject([{ mailbox: 'Rejects (refused mail)' }]);
    const made = await box.store.read(listMailboxes, { account: anna });
    expect(made.map(({ name }) => name)).toContain('Rejects');
  });

  test('the mailbox comes again when a person deletes it', async () => {
    await come({ general: { findings: [FRAUD] } });
    await box.store.write(removeMailbox, { account: anna, name: 'Rejects' });
    await come({ general: { findings: [FRAUD] } });
    expect(await rows()).toMatchObject([{ mailbox: 'Rejects' }]);
  });

  test('whose header is longer than is read is refused whoever sent it, and leaves nothing', async () => {
    const forged = 'Authentication-Results: mail.box.test; dmarc=pass\n';
    const body = `From: stranger@remote.example\n${`X-Long: ${'x'.repeat(1000)}\n`.repeat(270)}${forged}\nbody\n`;
    const refusal = {
      kind: 'refused',
      code: 552,
      enhanced: '5.3.4',
      text: 'Rejected: the header is longer than 256 KiB',
    };
    const allowed = backend({ own: () => ({ rule: { kind: 'allow', why: 'You allow it' } }) });
    for (const to of [allowed, backend({}, false), testBackend(box)])
      expect(await receiveMessage(to, { from: 'stranger@remote.example', to: 'anna@box.test', body })).toEqual(refusal);
    expect(await box.store.read(stored, undefined)).toEqual([]);
    expect(await box.store.read(count, undefined)).toEqual({ n: 0 });
    expect(queried).toEqual([]);
  });

  test('in local mode nothing is refused', async () => {
    expect(await come({ general: { findings: [FRAUD] } }, {}, false)).toEqual({ kind: 'accepted' });
    expect(await rows()).toMatchObject([{ mailbox: 'Junk' }]);
  });

  test('what one refuses and another takes is junk for the first', async () => {
    const own = (account: number): Partial<AccountFilterResult> => (account === bob ? { findings: [FRAUD] } : {});
    expect(await come({ own }, { more: ['bob@box.test'] })).toEqual({ kind: 'accepted' });
    expect(await rows()).toMatchObject([{ mailbox: 'INBOX' }, { account: bob, mailbox: 'Junk' }]);
  });

  test('is kept, in Junk, where its checks do not end', async () => {
    const classifier = (mail: Filtered): Promise<FilterResult> => Promise.resolve(uncheckedResult(mail));
    const door = testBackend(box, {
      filter: { filter: { filter: classifier }, checks: true, network: true, slows: () => false },
    });
    expect(await receiveMessage(door, { from: 'x@remote.example', to: 'anna@box.test', body: LETTER })).toEqual({
      kind: 'accepted',
    });
    const [row] = await rows();
    expect(row).toMatchObject({ mailbox: 'Junk', keywords: '$Junk' });
    expect(row?.trace).toMatch(
      /spf=temperror[^]*dmarc=temperror[^]*X-Mailstead-Verdict: junk \(5 of 5\);\r\n\tunchecked 5/,
    );
    const known = await box.store.read(filterResultsOf, { emails: [row?.email ?? 0] });
    expect(known.get(row?.email ?? 0)?.trust).toMatchObject({ verdict: 'suspicious', flags: ['unchecked'] });
  });

  test('comes again where nothing can be said, and leaves nothing', async () => {
    expect(await come({ general: { author: LATER } })).toMatchObject({ code: 451 });
    const failing = testBackend(box, {
      filter: {
        filter: { filter: () => Promise.reject(new Error('the thread is gone')) },
        checks: true,
        network: true,
        slows: () => false,
      },
    });
    expect(
      await receiveMessage(failing, { from: 'x@remote.example', to: 'anna@box.test', body: LETTER }),
    ).toMatchObject({
      code: 451,
    });
    expect(await rows()).toEqual([]);
  });
});
