import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ScheduledMail } from '../../../mail/jobs/scheduled-mail.ts';
import { jmapId } from '../../../mail/jmap/core/ids.ts';
import type { JmapContext } from '../../../mail/jmap/core/method.ts';
import { quiet } from '../../../mail/log.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { traceId } from '../../../mail/receiver/trace-id.ts';
import { StoreQueue } from '../../../mail/relay/store-queue.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { appendMessage, storeFlags } from '../../../mail/store/mailbox/entry-commands.ts';
import { purgeSubmissions, KEEP_SUBMISSIONS_MS } from '../../../mail/store/submission/jmap-submission.ts';
import { isOwnReply } from '../../../mail/store/journal/delivery-updates.ts';
import { queueOfTrace } from '../../../mail/store/queue/queue-rows.ts';
import { type JmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';
import { testAccount, testStore } from '../../support/store.ts';

const DAY = 24 * 3_600_000;

let fixture: JmapFixture;
let other: JmapFixture;
let identityId: string;
let scheduler: ScheduledMail;
let woken: number;

beforeAll(async () => {
  const box = await testStore('writer thread');
  fixture = jmapFixtureOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = jmapFixtureOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
  const { list } = await fixture.call('Identity/get');
  identityId = (list as { id: string }[])[0]?.id ?? '';
  scheduler = new ScheduledMail({
    store: box.store,
    hostname: 'mail.box.test',
    clock: () => box.clock.now,
    log: quiet,
    traceId,
    forwardKey: Buffer.alloc(32, 3),
    hold: null,
    queued: () => woken++,
  });
});
beforeEach(() => {
  woken = 0;
  change({ queued: () => void woken++ });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** Overrides of the context, for one test. */
const plain: Partial<JmapContext> = {};
function change(ways: Partial<JmapContext>): void {
  for (const name of Object.keys(ways) as (keyof JmapContext)[]) {
    if (!(name in plain)) Object.assign(plain, { [name]: fixture.context[name] });
  }
  Object.assign(fixture.context, ways);
}
afterEach(() => void Object.assign(fixture.context, plain));

/** Stores a draft in the inbox; returns its id. */
async function draft(header: string, of = fixture, body = 'Hello'): Promise<string> {
  const data = Buffer.from(`${header}\n\n${body}\n`.replace(/\r?\n/g, '\r\n'));
  const added = await of.box.store.write(appendMessage, {
    account: of.account,
    mailbox: of.inbox,
    flags: { bits: 8, keywords: [] },
    receivedAt: of.box.clock.now,
    data: Uint8Array.from(data),
    file: null,
    index: indexMessage(data),
  });
  if (added.kind !== 'appended') throw new Error(added.kind);
  const row = await of.box.store.read(newestEmail, { account: of.account });
  return jmapId('email', row);
}

const newestEmail = query('test-newest-email', async (rx, { account }: { account: number }): Promise<number> => {
  const row = await rx.get<{ id: number }>('SELECT max(id) AS id FROM email WHERE account_id = ?', account);
  return row?.id ?? 0;
});
const traceOf = query('test-trace', async (rx): Promise<string> => {
  const row = await rx.get<{ trace: string }>('SELECT trace FROM email_submission ORDER BY id DESC LIMIT 1');
  return row?.trace ?? '';
});
const count = query('test-count', async (rx): Promise<number> => {
  const row = await rx.get<{ n: number }>('SELECT count(*) AS n FROM submission');
  return row?.n ?? 0;
});
const inboxOf = query('test-inbox', async (rx, { account }: { account: number }): Promise<string[]> => {
  const rows = await rx.all<{ data: Uint8Array }>(
    'SELECT b.data FROM email e JOIN blob b ON b.id = e.blob_id WHERE e.account_id = ? ORDER BY e.id',
    account,
  );
  return rows.map(({ data }) => Buffer.from(data).toString());
});

type Made = { id: string; sendAt: string; undoStatus: string; threadId: string; deliveryStatus: Statuses };
type Statuses = Record<string, { smtpReply: string; delivered: string; displayed: string }>;

const set = (args: Record<string, unknown>, of = fixture): Promise<Record<string, unknown>> =>
  of.call('EmailSubmission/set', args);
const send = async (emailId: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
  set({ create: { k: { identityId, emailId, ...more } } });
async function sent(emailId: string, more: Record<string, unknown> = {}): Promise<Made> {
  const answer = await send(emailId, more);
  const made = (answer['created'] as { k: Made } | null)?.k;
  if (made === undefined) throw new Error(JSON.stringify(answer['notCreated']));
  return made;
}
async function refusal(emailId: string, more: Record<string, unknown> = {}): Promise<unknown> {
  const answer = await send(emailId, more);
  expect(answer['created']).toBeNull();
  return (answer['notCreated'] as { k: unknown }).k;
}
const got = async (id: string): Promise<Made> =>
  ((await fixture.call('EmailSubmission/get', { ids: [id] }))['list'] as Made[])[0] as Made;
const state = async (): Promise<string> => (await fixture.call('EmailSubmission/get', { ids: [] }))['state'] as string;
const statusOf = async (id: string): Promise<Record<string, string>> => {
  const { deliveryStatus } = await got(id);
  return Object.fromEntries(Object.entries(deliveryStatus).map(([to, one]) => [to, one.delivered]));
};
const hold = (parameters: Record<string, string | null>, to = ['x@remote.example']): Record<string, unknown> => ({
  envelope: { mailFrom: { email: 'me@box.test', parameters }, rcptTo: to.map((email) => ({ email })) },
});

const FROM = 'From: Me <me@box.test>';

describe('sending', () => {
  test('an email is sent once to each address in To, Cc and Bcc, without the Bcc field', async () => {
    const emailId = await draft(
      `${FROM}\nTo: You <you@box.test>, x@remote.example\nCc: friends: y@remote.example;\nBcc: z@remote.example, x@remote.example\nSubject: hi`,
    );
    const before = await state();
    const answer = await send(emailId);
    const { k: made } = answer['created'] as { k: Made };
    expect(answer).toMatchObject({ oldState: before, notCreated: null });
    expect(answer['newState']).not.toBe(before);
    expect(made).toMatchObject({
      undoStatus: 'final',
      sendAt: new Date(fixture.box.clock.now).toISOString().replace('.000', ''),
    });
    expect(made.threadId).toMatch(/^t/);
    const whole = await got(made.id);
    expect(whole).toMatchObject({
      identityId,
      emailId,
      envelope: {
        mailFrom: { email: 'me@box.test', parameters: null },
        rcptTo: ['you@box.test', 'x@remote.example', 'y@remote.example', 'z@remote.example'].map((email) => ({
          email,
          parameters: null,
        })),
      },
      dsnBlobIds: [],
      mdnBlobIds: [],
    });
    expect(await statusOf(made.id)).toEqual({
      'you@box.test': 'yes',
      'x@remote.example': 'queued',
      'y@remote.example': 'queued',
      'z@remote.example': 'queued',
    });
    expect(woken).toBe(1);
    const [theirs = ''] = await fixture.box.store.read(inboxOf, { account: other.account });
    expect(theirs).toContain('Subject: hi');
    expect(theirs).not.toMatch(/^bcc/im);
    expect(theirs).toMatch(/^Date: /m);
    expect(theirs).toMatch(/^Message-ID: <.*@box\.test>/m);
  });

  /** Tests if the session records a read of another server's text. */
  const isRemoteRead = async (id: string): Promise<boolean> => {
    let read = false;
    Object.assign(fixture.session, { onRemoteText: async () => void (read = await Promise.resolve(true)) });
    await got(id);
    Object.assign(fixture.session, { onRemoteText: undefined });
    return read;
  };

  test('the delivery status follows the queue, and each step changes the state', async () => {
    const made = await sent(await draft(`${FROM}\nTo: a@remote.example, b@remote.example\nSubject: q`));
    const queue = new StoreQueue({ store: fixture.box.store, hold: null, traceId: () => 'bounce' });
    const trace = await fixture.box.store.read(traceOf, undefined);
    const rows = await fixture.box.store.read(queueOfTrace, { trace, tenant: null, accounts: null });
    const [a, b] = rows.map((row) => row.id);
    if (a === undefined || b === undefined) throw new Error('not queued');
    const end = (
      id: number,
      outcome: 'delivered' | 'failed' | 'deferred',
      code: number,
      status: string,
      text: string,
    ) => ({
      id,
      outcome,
      host: 'mx.remote.example',
      ip: '192.0.2.1',
      code,
      status,
      text,
      tls: '',
      at: fixture.box.clock.now,
      nextAt: fixture.box.clock.now + 60_000,
    });
    const before = await state();
    expect(await isRemoteRead(made.id)).toBe(false);
    await queue.begin([{ id: a, nextAt: fixture.box.clock.now + 60_000 }]);
    await queue.finish([end(a, 'deferred', 451, '4.7.1', '451 4.7.1 come back')], []);
    expect(await isRemoteRead(made.id)).toBe(true);
    expect((await got(made.id)).deliveryStatus['a@remote.example']).toEqual({
      smtpReply: '451 4.7.1 come back',
      delivered: 'queued',
      displayed: 'unknown',
    });
    const deferred = await state();
    expect(deferred).not.toBe(before);
    const changed = await fixture.call('EmailSubmission/changes', { sinceState: before });
    expect(changed).toMatchObject({ created: [], updated: [made.id], destroyed: [], newState: deferred });
    await queue.begin([a, b].map((id) => ({ id, nextAt: fixture.box.clock.now + 60_000 })));
    await queue.finish([end(a, 'delivered', 250, '2.0.0', 'ok'), end(b, 'failed', 550, '5.1.1', 'no such user')], []);
    expect((await got(made.id)).deliveryStatus).toMatchObject({
      'a@remote.example': { smtpReply: '250 2.0.0 ok', delivered: 'unknown' },
      'b@remote.example': { smtpReply: '550 5.1.1 no such user', delivered: 'no' },
    });
    expect(await state()).not.toBe(deferred);
  });

  test('onSuccess changes the emails of successful submissions in one implicit call', async () => {
    const good = await draft(`${FROM}\nTo: you@box.test\nSubject: s`);
    const bad = await draft(`${FROM}\nSubject: to nobody`);
    const { methodResponses } = await fixture.request([
      [
        'EmailSubmission/set',
        {
          accountId: fixture.accountId,
          create: { a: { identityId, emailId: good }, b: { identityId, emailId: bad } },
          onSuccessUpdateEmail: { '#a': { 'keywords/$draft': null }, '#b': { 'keywords/$seen': true } },
          onSuccessDestroyEmail: ['#b', '#nobody'],
        },
        'c1',
      ],
    ]);
    expect(methodResponses).toHaveLength(2);
    expect(methodResponses[0]?.[1]).toMatchObject({ created: { a: {} }, notCreated: { b: { type: 'noRecipients' } } });
    expect(methodResponses[1]).toMatchObject(['Email/set', { updated: { [good]: null }, destroyed: null }, 'c1']);
    const { list } = await fixture.call('Email/get', { ids: [good, bad], properties: ['keywords'] });
    expect(list).toEqual([
      { id: good, keywords: {} },
      { id: bad, keywords: { $draft: true } },
    ]);
  });

  test('a draft is created, sent and destroyed in one request; the submission remains', async () => {
    const { accountId } = fixture;
    const { list } = await fixture.call('Mailbox/get');
    const drafts = (list as { id: string; role: string | null }[]).find(({ role }) => role === 'drafts')?.id ?? '';
    const email = {
      mailboxIds: { [drafts]: true },
      keywords: { $draft: true },
      from: [{ name: 'Me', email: 'me@box.test' }],
      to: [{ name: null, email: 'x@remote.example' }],
      bcc: [{ name: null, email: 'you@box.test' }],
      subject: 'One request',
      textBody: [{ partId: 't', type: 'text/plain' }],
      bodyValues: { t: { value: 'Hello' } },
    };
    const { methodResponses } = await fixture.request([
      ['Email/set', { accountId, create: { d: email } }, 'a'],
      [
        'EmailSubmission/set',
        { accountId, create: { s: { identityId, emailId: '#d' } }, onSuccessDestroyEmail: ['#s'] },
        'b',
      ],
      ['EmailSubmission/get', { accountId, ids: ['#s'] }, 'c'],
    ]);
    const [made, sending, gone, remembered] = methodResponses.map(([, args]) => args);
    const { d } = (made ?? {})['created'] as { d: { id: string; threadId: string } };
    const { id, threadId } = d;
    expect(sending).toMatchObject({ created: { s: { threadId } } });
    expect(gone).toMatchObject({ destroyed: [id] });
    expect(remembered).toMatchObject({ list: [{ emailId: id, threadId }] });
    const theirs = (await fixture.box.store.read(inboxOf, { account: other.account })).at(-1);
    expect(theirs).toContain('Subject: One request');
    expect(theirs).not.toMatch(/^bcc/im);
  });

  test('with several authors the Sender is the envelope sender', async () => {
    const header = 'From: me@box.test, Me <me+a@box.test>\nTo: x@remote.example\nSubject: two';
    expect(await refusal(await draft(header))).toMatchObject({ type: 'invalidEmail', properties: ['from'] });
    const emailId = await draft(`${header}\nSender: me+a@box.test`);
    const made = await sent(emailId);
    // The identity does not allow it, so the identity's own address is used.
    expect(await got(made.id)).toMatchObject({ envelope: { mailFrom: { email: 'me@box.test' } } });
  });

  test('DSN and other SMTP parameters reach the queue', async () => {
    const envelope = {
      mailFrom: { email: 'me@box.test', parameters: { RET: 'hdrs', ENVID: 'abc', REQUIRETLS: null, size: '100' } },
      rcptTo: [{ email: 'x@remote.example', parameters: { NOTIFY: 'success,failure', ORCPT: 'rfc822;x@old.example' } }],
    };
    await sent(await draft(`${FROM}\nTo: x@remote.example`), { envelope });
    const trace = await fixture.box.store.read(traceOf, undefined);
    const [row] = await fixture.box.store.read(queueOfTrace, { trace, tenant: null, accounts: null });
    expect(row).toMatchObject({
      ret: 'HDRS',
      envid: 'abc',
      require_tls: 1,
      notify: 'SUCCESS,FAILURE',
      orcpt: 'rfc822;x@old.example',
      eight_bit: 0,
      smtputf8: 0,
    });
  });

  test('a non-ASCII message needs 8BITMIME, and SMTPUTF8 for its header', async () => {
    await sent(await draft(`${FROM}\nTo: x@remote.example\nSubject: plain`, fixture, 'Grüße'));
    const first = await fixture.box.store.read(traceOf, undefined);
    expect(
      (await fixture.box.store.read(queueOfTrace, { trace: first, tenant: null, accounts: null }))[0],
    ).toMatchObject({
      eight_bit: 1,
      smtputf8: 0,
    });
    await sent(await draft(`${FROM}\nTo: x@remote.example\nSubject: Grüße`));
    const second = await fixture.box.store.read(traceOf, undefined);
    expect(
      (await fixture.box.store.read(queueOfTrace, { trace: second, tenant: null, accounts: null }))[0],
    ).toMatchObject({
      smtputf8: 1,
    });
  });
});

describe('what is refused', () => {
  const to = 'To: x@remote.example';
  const mailFrom = { email: 'me@box.test' };
  const rcptTo = [{ email: 'x@remote.example' }];
  const many = Array.from({ length: 101 }, (_, i) => ({ email: `r${i}@remote.example` }));

  test.each<[string, string, Record<string, unknown>, Record<string, unknown>]>([
    ['nobody to send to', FROM, {}, { type: 'noRecipients' }],
    ['an empty envelope', `${FROM}\n${to}`, { envelope: { mailFrom, rcptTo: [] } }, { type: 'noRecipients' }],
    [
      'too many',
      `${FROM}\n${to}`,
      { envelope: { mailFrom, rcptTo: many } },
      { type: 'tooManyRecipients', maxRecipients: 100 },
    ],
    [
      'no addresses',
      `${FROM}\n${to}`,
      { envelope: { mailFrom, rcptTo: [...rcptTo, { email: 'nobody' }] } },
      { type: 'invalidRecipients', invalidRecipients: ['nobody'] },
    ],
    [
      'nobody of that name here',
      `${FROM}\nTo: nobody@box.test`,
      {},
      { type: 'invalidRecipients', invalidRecipients: ['nobody@box.test'] },
    ],
    ['no From', to, {}, { type: 'invalidEmail', properties: ['from'] }],
    ['two From', `${FROM}\n${FROM}\n${to}`, {}, { type: 'invalidEmail', properties: ['from'] }],
    ['a From that readers disagree on', `From: a@b.example <me@box.test>\n${to}`, {}, { type: 'invalidEmail' }],
    ['another author', `From: you@box.test\n${to}`, {}, { type: 'forbiddenFrom' }],
    ['another sender in the header', `${FROM}\nSender: you@box.test\n${to}`, {}, { type: 'forbiddenFrom' }],
    [
      'another envelope sender',
      `${FROM}\n${to}`,
      { envelope: { mailFrom: { email: 'you@box.test' }, rcptTo } },
      { type: 'forbiddenMailFrom' },
    ],
    [
      'an envelope sender that is none',
      `${FROM}\n${to}`,
      { envelope: { mailFrom: { email: 'you' }, rcptTo } },
      { type: 'invalidProperties', properties: ['envelope/mailFrom/email'] },
    ],
    ...['BY', 'AUTH', 'MT-PRIORITY', 'HOLDFOR', 'HOLDUNTIL', 'RET', 'ENVID'].map(
      (name): [string, string, Record<string, unknown>, Record<string, unknown>] => [
        `the parameter ${name} without a value`,
        `${FROM}\n${to}`,
        hold({ [name]: null }),
        { type: 'invalidProperties', properties: ['envelope/mailFrom/parameters'] },
      ],
    ),
    ['a line end in ENVID', `${FROM}\n${to}`, hold({ ENVID: 'a\r\nX: y' }), { type: 'invalidProperties' }],
    ['31 days', `${FROM}\n${to}`, hold({ HOLDFOR: String(31 * 86_400) }), { type: 'invalidProperties' }],
    [
      'both kinds of holding',
      `${FROM}\n${to}`,
      hold({ HOLDFOR: '60', HOLDUNTIL: '2026-01-02T00:00:00Z' }),
      { type: 'invalidProperties' },
    ],
    [
      'a strange NOTIFY',
      `${FROM}\n${to}`,
      { envelope: { mailFrom, rcptTo: [{ email: 'x@remote.example', parameters: { NOTIFY: 'NEVER,SUCCESS' } }] } },
      { type: 'invalidProperties', properties: ['envelope/rcptTo/parameters'] },
    ],
    [
      'no such identity',
      `${FROM}\n${to}`,
      { identityId: 'i999' },
      { type: 'invalidProperties', properties: ['identityId'] },
    ],
    ['no such email', `${FROM}\n${to}`, { emailId: 'm999' }, { type: 'invalidProperties', properties: ['emailId'] }],
    [
      'server-set properties',
      `${FROM}\n${to}`,
      { undoStatus: 'final', sendAt: 'now' },
      { properties: ['undoStatus', 'sendAt'] },
    ],
    [
      'an envelope of another shape',
      `${FROM}\n${to}`,
      { envelope: { to: 1 } },
      { type: 'invalidProperties', properties: ['envelope'] },
    ],
  ])('%s', async (_what, header, more, error) => {
    const before = await fixture.box.store.read(count, undefined);
    expect(await refusal(await draft(header), more)).toMatchObject({ ...error, description: expect.any(String) });
    expect(await fixture.box.store.read(count, undefined)).toBe(before);
  });

  test('a message over the size limit, which is reported', async () => {
    change({ maxMessageBytes: 50 });
    const error = await refusal(await draft(`${FROM}\n${to}\nSubject: ${'x'.repeat(50)}`));
    expect(error).toMatchObject({ type: 'tooLarge', maxSize: 50 });
  });

  test('a header over the size limit', async () => {
    const header = `${FROM}\n${to}\n${`X-Long: ${'x'.repeat(900)}\n`.repeat(400)}Subject: end`;
    expect(await refusal(await draft(header))).toMatchObject({ type: 'invalidEmail' });
  });

  test('messages that the policy rejects, and those over the daily limit', async () => {
    const emailId = await draft(`${FROM}\n${to}`);
    change({ policy: () => ({ kind: 'refuse', because: 'It looks like a scam' }) });
    expect(await refusal(emailId)).toMatchObject({ type: 'forbiddenToSend', description: 'It looks like a scam.' });
    Object.assign(fixture.context, plain);
    const budget = { subject: 'account/1', daily: 1, explanation: 'That is all' };
    change({ senderOf: () => Promise.resolve({ tenant: 1, allowance: null, budgets: [budget] }) });
    await sent(emailId);
    expect(await refusal(emailId)).toMatchObject({ type: 'rateLimit' });
    const only = { messages: 9, burst: 9, newRecipients: 9, only: ['owner@a.example'], until: 'Claim it' };
    change({ senderOf: () => Promise.resolve({ tenant: 1, allowance: only }) });
    expect(await refusal(emailId)).toMatchObject({ type: 'forbiddenToSend' });
  });

  test('a login without permission to send', async () => {
    const emailId = await draft(`${FROM}\n${to}`);
    const access = { account: fixture.account, address: 'me@box.test', readOnly: false, mayTransmit: false };
    const before = fixture.session.accounts.get(fixture.accountId);
    Object.assign(fixture.session, { accounts: new Map([[fixture.accountId, access]]) });
    expect(await refusal(emailId)).toMatchObject({ type: 'forbiddenToSend' });
    Object.assign(fixture.session, { accounts: new Map([[fixture.accountId, before]]) });
  });

  test('the email and the identity of another account', async () => {
    const theirs = await draft('From: you@box.test\nTo: x@remote.example', other);
    const { list } = await other.call('Identity/get');
    const [their] = list as { id: string }[];
    const mine = await draft(`${FROM}\n${to}`);
    // Email ids are per account: the other account's id names our own email, or none.
    expect(await refusal(mine, { identityId: their?.id })).toEqual(await refusal(mine, { identityId: 'i999' }));
    expect(await refusal(`${theirs}zzz`)).toEqual(await refusal('m999'));
  });

  test('a destroyed email', async () => {
    const emailId = await draft(`${FROM}\n${to}`);
    const uid = await fixture.box.store.read(newestUid, { mailbox: fixture.inbox });
    const flags = { bits: 16, keywords: [] };
    await fixture.box.store.write(storeFlags, {
      account: fixture.account,
      mailbox: fixture.inbox,
      uids: [uid],
      how: 'add',
      flags,
      unchangedSince: null,
    });
    expect(await refusal(emailId)).toMatchObject({ type: 'invalidProperties', properties: ['emailId'] });
  });
});

const newestUid = query('test-newest-uid', async (rx, { mailbox }: { mailbox: number }): Promise<number> => {
  const row = await rx.get<{ uid: number }>('SELECT max(uid) AS uid FROM entry WHERE mailbox_id = ?', mailbox);
  return row?.uid ?? 0;
});

describe('later', () => {
  test('a delayed message is sent at its time', async () => {
    const emailId = await draft(`${FROM}\nTo: x@remote.example, you@box.test\nSubject: later`);
    const at = fixture.box.clock.now + 60_000;
    const made = await sent(emailId, hold({ HOLDFOR: '60' }, ['x@remote.example', 'you@box.test']));
    expect(made).toMatchObject({ undoStatus: 'pending', sendAt: new Date(at).toISOString().replace('.000', '') });
    const before = await state();
    fixture.box.clock.now += 59_000;
    await scheduler.run();
    expect((await got(made.id)).undoStatus).toBe('pending');
    fixture.box.clock.now += 1_000;
    await scheduler.run();
    expect(await got(made.id)).toMatchObject({ undoStatus: 'final' });
    expect(await statusOf(made.id)).toEqual({ 'x@remote.example': 'queued', 'you@box.test': 'yes' });
    expect(await state()).not.toBe(before);
    const late = await set({ update: { [made.id]: { undoStatus: 'canceled' } } });
    expect((late['notUpdated'] as Record<string, unknown>)[made.id]).toMatchObject({ type: 'cannotUnsend' });
  });

  test('a canceled message is not sent', async () => {
    const until = new Date(fixture.box.clock.now + DAY).toISOString();
    const emailId = await draft(`${FROM}\nTo: you@box.test\nSubject: never`);
    const made = await sent(emailId, hold({ HOLDUNTIL: until }, ['you@box.test', 'x@remote.example']));
    const undone = await set({ update: { [made.id]: { undoStatus: 'canceled' } } });
    expect(Object.keys(undone['updated'] as object)).toEqual([made.id]);
    expect(await got(made.id)).toMatchObject({ undoStatus: 'canceled' });
    expect(await statusOf(made.id)).toEqual({ 'you@box.test': 'no', 'x@remote.example': 'no' });
    fixture.box.clock.now += 2 * DAY;
    await scheduler.run();
    const theirs = await fixture.box.store.read(inboxOf, { account: other.account });
    expect(theirs.some((one) => one.includes('Subject: never'))).toBe(false);
    // Idempotent.
    expect((await set({ update: { [made.id]: { undoStatus: 'canceled' } } }))['notUpdated']).toBeNull();
  });

  test('a message of a person is not canceled by an agent', async () => {
    const made = await sent(
      await draft(`${FROM}\nTo: you@box.test\nSubject: mine`),
      hold({ HOLDFOR: '60' }, ['you@box.test']),
    );
    Object.assign(fixture.session, { agent: 'tok_7' });
    const refused = await set({ update: { [made.id]: { undoStatus: 'canceled' } } });
    Object.assign(fixture.session, { agent: undefined });
    expect(refused['notUpdated']).toMatchObject({ [made.id]: { type: 'forbidden' } });
    expect(await got(made.id)).toMatchObject({ undoStatus: 'pending' });
    await set({ update: { [made.id]: { undoStatus: 'canceled' } } });
  });

  test('a message that awaits approval is pending and can be canceled', async () => {
    change({ policy: () => ({ kind: 'hold', because: 'A person looks first' }) });
    const made = await sent(await draft(`${FROM}\nTo: x@remote.example`));
    expect(made).toMatchObject({ undoStatus: 'pending' });
    expect((await got(made.id)).deliveryStatus['x@remote.example']).toMatchObject({
      delivered: 'queued',
      smtpReply: '250 2.0.0 Held: A person looks first',
    });
    expect(isOwnReply({ delivered: 'queued', reply: '250 2.0.0 Held: A person looks first' })).toBe(true);
    expect(isOwnReply({ delivered: 'unknown', reply: '250 2.0.0 Held: tell eve' })).toBe(false);
    expect((await set({ update: { [made.id]: { undoStatus: 'canceled' } } }))['updated']).toMatchObject({
      [made.id]: {},
    });
  });

  test.each([
    ['back to pending', { undoStatus: 'pending' }],
    ['to another time', { sendAt: '2027-01-01T00:00:00Z' }],
    ['to other recipients', { 'envelope/rcptTo': [] }],
    ['to anything', { colour: 'red' }],
  ])('it cannot be changed %s', async (_what, patch) => {
    const made = await sent(await draft(`${FROM}\nTo: x@remote.example`));
    const answer = await set({ update: { [made.id]: patch } });
    expect(answer['notUpdated']).toMatchObject({
      [made.id]: { type: 'invalidProperties', properties: Object.keys(patch) },
    });
  });

  test('destroying a submission deletes its record, and the mail is still sent', async () => {
    const made = await sent(await draft(`${FROM}\nTo: x@remote.example`));
    const trace = await fixture.box.store.read(traceOf, undefined);
    const before = await state();
    expect((await set({ destroy: [made.id, 's999'] }))['destroyed']).toEqual([made.id]);
    expect(await fixture.box.store.read(queueOfTrace, { trace, tenant: null, accounts: null })).toHaveLength(1);
    const changes = await fixture.call('EmailSubmission/changes', { sinceState: before });
    expect(changes).toMatchObject({ created: [], updated: [], destroyed: [made.id] });
    expect(await fixture.call('EmailSubmission/get', { ids: [made.id] })).toMatchObject({
      list: [],
      notFound: [made.id],
    });
  });

  test('final submissions are deleted after 30 days, pending ones are not', async () => {
    const ended = await sent(await draft(`${FROM}\nTo: you@box.test`));
    const waits = await sent(await draft(`${FROM}\nTo: x@remote.example`));
    const before = fixture.box.clock.now + 1;
    while (await fixture.box.store.writeSlice(purgeSubmissions, { before: before - KEEP_SUBMISSIONS_MS }));
    expect(await got(ended.id)).toBeDefined();
    while (await fixture.box.store.writeSlice(purgeSubmissions, { before }));
    const left = await fixture.call('EmailSubmission/get', { ids: [ended.id, waits.id] });
    expect(left).toMatchObject({ notFound: [ended.id], list: [{ id: waits.id }] });
  });
});

describe('finding', () => {
  let ids: string[] = [];
  beforeAll(async () => {
    fixture.box.clock.now += DAY;
    const before = await fixture.call('EmailSubmission/query');
    await set({ destroy: before['ids'] });
    ids = [];
    for (const [to, more] of [
      ['a@remote.example', {}],
      ['b@remote.example', hold({ HOLDFOR: '3600' })],
      ['you@box.test', {}],
    ] as const) {
      ids.push((await sent(await draft(`${FROM}\nTo: ${to}\nSubject: find ${to}`), more)).id);
      fixture.box.clock.now += 1000;
    }
  });
  const find = async (args: Record<string, unknown>): Promise<string[]> =>
    ((await fixture.call('EmailSubmission/query', args))['ids'] as string[]).map((id) => String(ids.indexOf(id)));

  test('by the status that get returns', async () => {
    expect(await find({ filter: { undoStatus: 'pending' } })).toEqual(['1']);
    expect(await find({ filter: { undoStatus: 'final' }, sort: [{ property: 'sentAt' }] })).toEqual(['0', '2']);
    expect(await find({ filter: { operator: 'NOT', conditions: [{ undoStatus: 'final' }] } })).toEqual(['1']);
  });

  test('by email, thread, identity and time', async () => {
    const second = (await got(ids[1] ?? '')) as unknown as Record<string, unknown>;
    const emailIds = [second['emailId']];
    expect(await find({ filter: { emailIds } })).toEqual(['1']);
    expect(await find({ filter: { threadIds: [second['threadId']], identityIds: [identityId] } })).toEqual(['1']);
    expect(await find({ filter: { identityIds: ['i999'] } })).toEqual([]);
    expect(await find({ filter: { after: second['sendAt'] } })).toEqual(['1']);
    const order = [{ property: 'sentAt', isAscending: false }];
    expect(await find({ filter: { before: second['sendAt'] }, sort: order })).toEqual(['2', '0']);
  });

  test('in windows', async () => {
    const sort = [{ property: 'emailId' }];
    expect(await find({ sort, position: -1 })).toEqual(['2']);
    expect(await find({ sort, anchor: ids[1], anchorOffset: -1, limit: 2 })).toEqual(['0', '1']);
    expect(await fixture.call('EmailSubmission/query', { sort, calculateTotal: true, limit: 0 })).toMatchObject({
      ids: [],
      total: 3,
      position: 0,
    });
    expect(await fixture.refusal('EmailSubmission/query', { anchor: 's999' })).toMatchObject({
      type: 'anchorNotFound',
    });
  });

  test.each([
    ['an unknown condition', { filter: { colour: 'red' } }, 'unsupportedFilter'],
    ['an unknown order', { sort: [{ property: 'colour' }] }, 'unsupportedSort'],
    ['a prototype’s name', { sort: [{ property: 'constructor' }] }, 'unsupportedSort'],
    ['a wrong operator', { filter: { operator: 'XOR', conditions: [] } }, 'invalidArguments'],
    ['a wrong time', { filter: { before: 'now' } }, 'invalidArguments'],
  ])('%s is refused', async (_what, args, type) => {
    expect(await fixture.refusal('EmailSubmission/query', args)).toMatchObject({ type });
  });

  test('queryChanges brings an old result up to date', async () => {
    const queried = { filter: { undoStatus: 'final' }, sort: [{ property: 'sentAt' }] };
    const old = await fixture.call('EmailSubmission/query', queried);
    fixture.box.clock.now += 3600_000;
    await scheduler.run();
    await set({ destroy: [ids[0]] });
    const { removed, added, newQueryState } = (await fixture.call('EmailSubmission/queryChanges', {
      ...queried,
      sinceQueryState: old['queryState'],
    })) as { removed: string[]; added: { id: string; index: number }[]; newQueryState: string };
    const present = (old['ids'] as string[]).filter((id) => !removed.includes(id));
    for (const { id, index } of added) present.splice(index, 0, id);
    const now = await fixture.call('EmailSubmission/query', queried);
    expect(present).toEqual(now['ids']);
    expect(newQueryState).toBe(now['queryState']);
    expect(
      await fixture.refusal('EmailSubmission/queryChanges', {
        ...queried,
        sinceQueryState: old['queryState'],
        maxChanges: 1,
      }),
    ).toMatchObject({ type: 'tooManyChanges' });
    expect(
      await fixture.refusal('EmailSubmission/queryChanges', { ...queried, sinceQueryState: 'zzzzzzz' }),
    ).toMatchObject({ type: 'cannotCalculateChanges' });
  });

  test('another account finds none of them', async () => {
    expect((await other.call('EmailSubmission/query'))['ids']).toEqual([]);
    expect(await other.call('EmailSubmission/get', { ids })).toMatchObject({ list: [], notFound: ids });
    const destroyed = await set({ destroy: [ids[2]] }, other);
    expect(destroyed['notDestroyed']).toMatchObject({ [ids[2] ?? '']: { type: 'notFound' } });
  });
});
