import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReturnPaths } from '../../mail/delivery/return-path.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { RetentionJob } from '../../mail/jobs/retention.ts';
import { quiet } from '../../mail/log.ts';
import { formatAddress } from '../../mail/message/address.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import type { StoreReceiverBackend } from '../../mail/receiver/store-backend.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { setQuota } from '../../mail/store/account/account.ts';
import { KEEP_SENT_COPIES_MS, MOST_REPORTS } from '../../mail/store/queue/sent-copies.ts';
import { addDomain, pauseDomain } from '../../mail/store/address/domain.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { addListener } from '../../mail/store/notification/listener.ts';
import { changeQueue } from '../../mail/store/queue/queue-change.ts';
import { listSuppressions } from '../../mail/store/queue/suppression.ts';
import {
  receiveMessage as arriveAt,
  type TestMessage,
  BOX_KEY,
  testBackend,
  toAddress,
} from '../support/receive-message.ts';
import { vouchedBy } from '../support/sample.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const YOU = 'you@remote.example';

const pause = command('test-pause', (tx, input: { id: number }, stamp) => pauseDomain(tx, input.id, stamp.now));
const announce = command('test-announce', (tx, { account }: { account: number }) =>
  addListener(tx, { tenant: 1, account, events: ['received'] }),
);
const forward = command(
  'test-forward',
  async (tx, { from, to }: { from: string; to: string }, stamp): Promise<void> => {
    await tx.run(
      `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key, keep_local, created_at)
     SELECT 1, id, ?1, ?1, ?2, ?2, 0, ?3 FROM domain WHERE name = 'box.test'`,
      from,
      to,
      stamp.now,
    );
  },
);
const newest = query('test-newest', (rx, input: { account: number }) =>
  rx.all<{ data: Uint8Array }>(
    'SELECT b.data FROM email e JOIN blob b ON b.id = e.blob_id WHERE e.account_id = ? ORDER BY e.id DESC LIMIT 1',
    input.account,
  ),
);
/** Where mail lies, the oldest first. */
const roles = query('test-roles', (rx, input: { account: number }) =>
  rx.all<{ role: string | null }>(
    `SELECT m.role FROM entry n JOIN mailbox m ON m.id = n.mailbox_id JOIN email e ON e.id = n.email_id
     WHERE e.account_id = ? ORDER BY e.id`,
    input.account,
  ),
);
/** Counts queue rows, blobs, webhook events and sent copies. */
const counts = query('test-counts', async (rx) => {
  const count = async (table: 'queue' | 'blob' | 'webhook_event' | 'sent_copy'): Promise<number> =>
    (await rx.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))?.n ?? 0;
  return {
    queue: await count('queue'),
    blobs: await count('blob'),
    told: await count('webhook_event'),
    departed: await count('sent_copy'),
  };
});

let box: TestStore;
let backend: StoreReceiverBackend;
let queue: StoreQueue;
let account: number;
let made = 0;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, pause, announce, forward] });
  ({ account } = await testAccount(box.store));
  queue = new StoreQueue({ store: box.store, hold: null, traceId: () => `report-${++made}` });
  backend = testBackend(box);
});
afterEach(() => box[Symbol.asyncDispose]());

/** A message that left: its number, and the address that reports about it go to. */
async function sent(
  from = 'me@box.test',
  to = YOU,
  by: number | null = account,
): Promise<{ id: number; sender: string }> {
  const about = { trace: 'message', account: by, sender: from, signAs: ['box.test'] };
  const mail = outgoing(`From: ${from}\r\n\r\nhello\r\n`, [to], about);
  const done = await box.store.write(submit, unlimitedSubmission(mail));
  const id = done.kind === 'taken' ? (done.rows[0] ?? 0) : 0;
  const path = await new ReturnPaths(box.store, BOX_KEY, Date.now).find({ id, sender: toAddress(from) });
  return { id, sender: path === undefined ? '' : formatAddress(path) };
}

/** The remote server took it. */
async function delivered(id: number): Promise<void> {
  const at = box.clock.now;
  const end = { id, outcome: 'delivered', host: 'mx', ip: '', code: 250, status: '2.0.0', text: 'ok' } as const;
  await queue.finish([{ ...end, tls: '', at, nextAt: 0 }], []);
}

const cancel = (id: number) =>
  box.store.write(changeQueue, { ids: [id], what: 'cancel', tenant: null, accounts: null });

const arrive = (mail: TestMessage) => arriveAt(backend, mail);

const dsn = (action: string, status: string, id = 'r1', about = YOU): string => `From: MAILER-DAEMON@remote.example
Message-ID: <${id}@remote.example>
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b

Sorry.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.remote.example

Final-Recipient: rfc822; ${about}
Action: ${action}
Status: ${status}
Diagnostic-Code: smtp; 550 ${status} so it is

--b
Content-Type: text/rfc822-headers

Subject: hello

--b--
`;

const arf = (type: string, path: string): string => `From: fbl@remote.example
Message-ID: <fbl@remote.example>
Content-Type: multipart/report; report-type=feedback-report; boundary=b

--b

Complaint
--b
Content-Type: message/feedback-report

Feedback-Type: ${type}
Version: 1
User-Agent: x

--b
Content-Type: message/rfc822

Return-Path: <${path}>
Subject: hello

hello
--b--
`;

const inInbox = async (): Promise<number> =>
  (await box.store.read(findMailbox, { account, name: 'INBOX' }))?.total ?? 0;
const story = async (): Promise<string[]> => {
  const lines = await box.store.read(journalOf, { ...OPERATOR_VIEW, trace: 'message' });
  return lines.map(({ event, detail }) => [event, detail['status'] ?? detail['reason']].filter(Boolean).join(' '));
};
const suppressed = async (tenant = 1): Promise<string[]> => {
  const rows = await box.store.read(listSuppressions, { tenant, after: '', limit: 10 });
  return rows.map(({ key, reason, said, trace }) => `${key} ${reason} ${trace} ${said}`.trim());
};

describe('the sender of a copy', () => {
  test('is its own, where mail for the domain comes here', async () => {
    const { id, sender } = await sent();
    expect(sender).toMatch(/^me\+r[0-9a-z]+-[a-z2-7]{12}@box\.test$/);
    const other = await sent();
    expect(other.sender).not.toBe(sender);
    expect(other.id).not.toBe(id);
  });

  test('is left as it is elsewhere: a domain of others, one that is only claimed, one whose records are wrong, a forward', async () => {
    const path = async (from: string): Promise<string> => {
      const tagged = await new ReturnPaths(box.store, BOX_KEY, Date.now).find({ id: 1, sender: toAddress(from) });
      return tagged === undefined ? '' : formatAddress(tagged);
    };
    await box.store.write(addDomain, { tenant: 1, name: 'claimed.test', verified: false });
    const mine = await box.store.write(addDomain, { tenant: 1, name: 'wrong.test', verified: true });
    if (mine.kind !== 'taken') await box.store.write(pause, { id: mine.id });
    const srs = 'SRS0=aaaaaaaaaa=ab=x.example=joe@box.test';
    const all = ['me@other.test', 'me@claimed.test', 'me@wrong.test', srs];
    expect(await Promise.all(all.map(path))).toEqual(all);
    expect(await new ReturnPaths(box.store, BOX_KEY, Date.now).find({ id: 1, sender: undefined })).toBeUndefined();
  });
});

describe('a report to it', () => {
  test('of an address that is gone reaches the story, the list and the mailbox, also after the row has gone', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    expect(await arrive({ to: sender, body: dsn('failed', '5.1.1') })).toEqual({ kind: 'accepted' });
    expect(await story()).toEqual(['submitted', 'delivered 2.0.0', 'failed 5.1.1', 'listed hard_bounce']);
    expect(await suppressed()).toEqual([`${YOU} hard_bounce message 550 5.1.1 so it is`]);
    expect(await inInbox()).toBe(1);
  });

  test('before the end of the attempt is written down is matched too', async () => {
    const { id, sender } = await sent();
    await arrive({ to: sender, body: dsn('failed', '5.1.1') });
    await delivered(id);
    expect(await story()).toEqual(['submitted', 'failed 5.1.1', 'listed hard_bounce', 'delivered 2.0.0']);
    expect(await box.store.read(counts, undefined)).toMatchObject({ departed: 1 });
  });

  test('about a copy that was cancelled, and had left all the same, is matched too', async () => {
    const { id, sender } = await sent();
    await queue.begin([{ id, nextAt: box.clock.now + 1 }]);
    await cancel(id);
    await arrive({ to: sender, body: dsn('failed', '5.1.1') });
    expect(await story()).toEqual(['submitted', 'cancelled', 'failed 5.1.1', 'listed hard_bounce']);
    expect([await suppressed(), await inInbox()]).toEqual([[`${YOU} hard_bounce message 550 5.1.1 so it is`], 1]);
  });

  test('about a copy that was cancelled before any attempt is about nothing', async () => {
    const { id, sender } = await sent();
    await cancel(id);
    expect((await box.store.read(counts, undefined)).departed).toBe(0);
    await arrive({ to: sender, body: dsn('failed', '5.1.1') });
    expect([await story(), await suppressed()]).toEqual([['submitted', 'cancelled'], []]);
  });

  test('in capitals, as some servers write it, is the same', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    await arrive({ to: sender.toUpperCase(), body: dsn('failed', '5.1.1') });
    expect(await suppressed()).toHaveLength(1);
  });

  test.each([
    ['failed', '5.2.2', 'failed 5.2.2'],
    ['failed', '4.4.7', 'failed 4.4.7'],
    ['failed', '5.7.1', 'failed 5.7.1'],
    ['delayed', '4.4.1', 'reported 4.4.1'],
    ['delivered', '2.0.0', 'reported 2.0.0'],
    ['relayed', '2.0.0', 'reported 2.0.0'],
  ])('%s %s is in the story, and takes nobody off a list', async (action, status, line) => {
    const { id, sender } = await sent();
    await delivered(id);
    await arrive({ to: sender, body: dsn(action, status) });
    expect((await story()).at(-1)).toBe(line);
    expect(await suppressed()).toEqual([]);
    expect(await inInbox()).toBe(1);
  });

  test('that comes again and again is one report', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    for (let time = 0; time < 5; time++) await arrive({ to: sender, body: dsn('failed', '5.1.1') });
    expect(await inInbox()).toBe(1);
    expect(await story()).toEqual(['submitted', 'delivered 2.0.0', 'failed 5.1.1', 'listed hard_bounce']);
    expect((await box.store.read(counts, undefined)).blobs).toBe(1);
  });

  test(`beyond the first ${MOST_REPORTS} is not taken`, async () => {
    const { id, sender } = await sent();
    await delivered(id);
    const said: unknown[] = [];
    for (let time = 0; time < MOST_REPORTS + 5; time++) {
      said.push(await arrive({ to: sender, body: dsn('delayed', '4.4.1', `r${time}`) }));
    }
    expect(said.slice(MOST_REPORTS)).toEqual(Array.from({ length: 5 }, () => 'unknown'));
    expect(await inInbox()).toBe(MOST_REPORTS);
  });

  test('about what a program sent ends here, and leaves no octets', async () => {
    const { id, sender } = await sent('orders@box.test', YOU, null);
    await delivered(id);
    expect(await arrive({ to: sender, body: dsn('failed', '5.1.1') })).toEqual({ kind: 'accepted' });
    expect(await suppressed()).toHaveLength(1);
    expect(await box.store.read(counts, undefined)).toEqual({ queue: 0, blobs: 0, told: 0, departed: 1 });
  });

  test('larger than a row holds leaves no file either', async () => {
    const { id, sender } = await sent('orders@box.test', YOU, null);
    await delivered(id);
    await arrive({ to: sender, body: `${dsn('failed', '5.1.1')}${'more\n'.repeat(100_000)}` });
    expect(await suppressed()).toHaveLength(1);
    const later = (): Promise<number> => box.store.files.sweep(() => Promise.resolve(new Set()), Date.now() + 1000);
    expect(await later()).toBe(0);
  });

  test('reaches a mailbox that is full: nobody else would be informed', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    await box.store.write(setQuota, { account, bytes: 0 });
    await arrive({ to: sender, body: dsn('failed', '5.1.1') });
    expect(await inInbox()).toBe(1);
  });

  test('that is an answer of a person or a program goes to the mailbox, whatever codes it speaks of', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    const body = `From: ${YOU}\nMessage-ID: <a@x>\n\n${YOU} says: 550 5.1.1 no such user is what I got\n`;
    await arrive({ from: YOU, to: sender, body });
    expect(await story()).toEqual(['submitted', 'delivered 2.0.0', 'answered']);
    expect([await inInbox(), await suppressed()]).toEqual([1, []]);
  });

  test('two answers without a Message-ID are two', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    for (const text of ['yes', 'no']) await arrive({ from: YOU, to: sender, body: `From: ${YOU}\n\n${text}\n` });
    expect([await inInbox(), (await story()).at(-1)]).toEqual([2, 'answered']);
  });

  test('in words only counts when it is a report: no sender, our recipient, and a code', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    await arrive({ to: sender, body: `Subject: failure notice\n\n<${YOU}>:\n550 5.1.1 no such user\n` });
    expect(await suppressed()).toEqual([`${YOU} hard_bounce message 550 5.1.1 no such user`]);
  });

  test.each(['abuse', 'fraud'])('that is a complaint (%s) suppresses', async (type) => {
    const { id, sender } = await sent();
    await delivered(id);
    await arrive({ from: 'fbl@remote.example', to: sender, body: arf(type, sender) });
    expect(await story()).toEqual(['submitted', 'delivered 2.0.0', 'complained', 'listed complaint']);
    expect(await suppressed()).toEqual([`${YOU} complaint message ${type}`]);
  });

  test('that says it is no spam changes nothing', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    await arrive({ from: 'fbl@remote.example', to: sender, body: arf('not-spam', sender) });
    expect(await suppressed()).toEqual([]);
  });

  test('after a month is mail like any other', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    box.clock.now += KEEP_SENT_COPIES_MS + 1;
    const jobs = new RetentionJob(box.store, () => box.clock.now, quiet);
    await jobs.run();
    expect((await box.store.read(counts, undefined)).departed).toBe(0);
    expect(await backend.route(toAddress(sender), undefined)).toMatchObject({ kind: 'here', accounts: [account] });
  });
});

describe('a report to another address', () => {
  test('is matched by the sender that it quotes: complaints go to abuse@', async () => {
    const { id, sender } = await sent();
    await delivered(id);
    const coming = { from: 'fbl@remote.example', to: 'abuse@box.test', body: arf('abuse', sender) };
    for (let time = 0; time < 3; time++) expect(await arrive(coming)).toEqual({ kind: 'accepted' });
    expect(await suppressed()).toEqual([`${YOU} complaint message abuse`]);
    expect(await inInbox()).toBe(3);
  });

  test('with no such sender, or a forged one, changes nothing and informs nobody outside', async () => {
    await box.store.write(announce, { account });
    const { id, sender } = await sent();
    await delivered(id);
    const forged = sender.replace(/-.{4}/, '-aaaa');
    for (const to of ['me@box.test', forged]) await arrive({ to, body: dsn('failed', '5.1.1') });
    await arrive({ from: 'fbl@remote.example', to: 'abuse@box.test', body: arf('abuse', forged) });
    expect(await story()).toEqual(['submitted', 'delivered 2.0.0']);
    expect([await suppressed(), await inInbox()]).toEqual([[], 3]);
    // The complaint came with a sender, so it is mail like any other.
    expect((await box.store.read(counts, undefined)).told).toBe(1);
  });

  test('a forged sender of a program is nobody', async () => {
    const { sender } = await sent('orders@box.test', YOU, null);
    expect(await arrive({ to: sender.replace(/-.{4}/, '-aaaa'), body: '' })).toBe('unknown');
  });
});

describe('a flood', () => {
  test('of 5,000 reports that nobody asked for is taken up to 200 an hour, and goes no further', async () => {
    await box.store.write(announce, { account });
    let refused = 0;
    for (let n = 0; n < 5_000; n++) {
      const said = await arrive({ to: 'me@box.test', body: dsn('failed', '5.1.1', `r${n}`, `x${n}@remote.example`) });
      if (typeof said === 'object' && 'code' in said && said.code === 452) refused++;
    }
    expect([refused, await inInbox()]).toEqual([4_800, 200]);
    expect(await box.store.read(counts, undefined)).toMatchObject({ queue: 0, told: 0 });
    box.clock.now += 3_600_000;
    expect(await arrive({ to: 'me@box.test', body: dsn('failed', '5.1.1', 'later') })).toEqual({ kind: 'accepted' });
  }, 240_000);
});

describe('NOTIFY for recipients here', () => {
  const login = () => ({ account, address: 'me@box.test' });
  const body = 'From: me@box.test\nSubject: hello\n\nhello\n';

  test.each([
    [undefined, 0],
    [['NEVER'], 0],
    [['FAILURE'], 0],
    [['DELAY'], 0],
    [['FAILURE', 'DELAY'], 0],
    [['SUCCESS'], 1],
    [['SUCCESS', 'FAILURE', 'DELAY'], 1],
  ] as const)('%s: %d reports, in the commit of the message', async (notify, reports) => {
    const mail = { from: 'me@box.test', to: 'me+x@box.test', body, login: login() };
    await arrive({ ...mail, dsn: notify === undefined ? {} : { notify } });
    expect(await inInbox()).toBe(1 + reports);
    expect((await box.store.read(counts, undefined)).queue).toBe(0);
  });

  test('an address that only forwards stands for others: that is what is reported', async () => {
    await box.store.write(forward, { from: 'sales@box.test', to: YOU });
    const mail = { from: 'me@box.test', to: 'sales@box.test', body, login: login() };
    await arrive({ ...mail, dsn: { notify: ['SUCCESS'], orcpt: 'rfc822;sales@box.test' } });
    const [report] = await box.store.read(newest, { account });
    expect(Buffer.from(report?.data ?? []).toString()).toMatch(
      /Final-Recipient: rfc822; sales@box.test\r\nAction: expanded/,
    );
    expect((await box.store.read(counts, undefined)).queue).toBe(1);
  });

  test('who has no sender is not informed', async () => {
    await arrive({ to: 'me@box.test', body, login: login(), dsn: { notify: ['SUCCESS'] } });
    expect(await inInbox()).toBe(1);
  });

  test('what was asked is kept for those elsewhere', async () => {
    const dsn = { notify: ['SUCCESS', 'DELAY'], orcpt: 'rfc822;you+1@remote.example' } as const;
    await arrive({ from: 'me@box.test', to: YOU, body, login: login(), dsn, envid: 'a+b c', ret: 'FULL' });
    const { items } = await queue.due({ now: box.clock.now, limit: 1, lanes: [], owners: [], after: undefined });
    expect(items[0]).toMatchObject({ notify: 'SUCCESS,DELAY', orcpt: dsn.orcpt, envid: 'a+b c', ret: 'FULL' });
  });
});

/** Backend whose filter finds malware in everything; without `refuse` the verdict is junk. */
function findingMalware(refuse: boolean): StoreReceiverBackend {
  const findings = [{ rule: 'virus', score: 9, why: 'It has malware', refuse, flag: 'malware' as const }];
  const result = { author: { kind: 'pass', why: '' } as const, findings, senders: [], accounts: [] };
  const filter = { filter: () => Promise.resolve({ ...result, authentication: vouchedBy('remote.example') }) };
  return testBackend(box, { filter: { filter, checks: true, network: true, slows: () => false } });
}

test.each([true, false])(
  'malware (%s) or junk is not passed on because an address for reports is named too',
  async (refuse) => {
    const { id, sender } = await sent();
    await delivered(id);
    await box.store.write(forward, { from: 'shop@box.test', to: 'victim@remote.example' });
    backend = findingMalware(refuse);
    const mail = { from: YOU, to: 'shop@box.test', body: `From: ${YOU}\n\nx\n` };
    expect(await arrive(mail)).toMatchObject({ code: 550 });
    expect(await arrive({ ...mail, more: [sender] })).toMatchObject({ code: 550 });
    expect((await box.store.read(counts, undefined)).queue).toBe(0);
  },
);

test('what comes to an address for reports is filed as any mail, a report too', async () => {
  const { id, sender } = await sent();
  await delivered(id);
  backend = findingMalware(true);
  await arrive({ from: YOU, to: sender, body: `From: ${YOU}\nSubject: Re: hello\n\nx\n` });
  await arrive({ from: '', to: sender, body: dsn('failed', '5.1.1') });
  expect(await box.store.read(roles, { account })).toEqual([{ role: 'junk' }, { role: 'junk' }]);
  expect(await suppressed()).toHaveLength(1);
});
