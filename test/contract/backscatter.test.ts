import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReturnPaths } from '../../mail/delivery/return-path.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import type { Authentication } from '../../mail/auth/authentication.ts';
import { rewriteSender } from '../../mail/forwarder/srs.ts';
import { formatAddress } from '../../mail/message/address.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import type { StoreReceiverBackend } from '../../mail/receiver/store-backend.ts';
import { composeReports } from '../../mail/relay/bounce.ts';
import { toAttemptResult } from '../../mail/relay/attempt-result.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { failed } from '../../mail/relay/attempt-verdict.ts';
import { setQuota } from '../../mail/store/account/account.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { receiveMessage, BOX_KEY, testBackend, toAddress } from '../support/receive-message.ts';
import { filteringBy } from '../support/filtering.ts';
import { onPostgres } from '../support/test-database.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const forward = command(
  'test-forward',
  async (tx, { from, to, keep }: { from: string; to: string; keep: boolean }, stamp): Promise<void> => {
    await tx.run(
      `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key, keep_local, created_at)
       SELECT 1, id, ?1, ?1, ?2, ?2, ?3, ?4 FROM domain WHERE name = 'box.test'`,
      from,
      to,
      Number(keep),
      stamp.now,
    );
  },
);
const emails = query(
  'test-emails',
  async (rx) => (await rx.get<{ n: number }>('SELECT count(*) AS n FROM email'))?.n ?? 0,
);

let box: TestStore;
let queue: StoreQueue;
let backend: StoreReceiverBackend;
let made = 0;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, forward] });
  await testAccount(box.store, 'me');
  const { account: full } = await testAccount(box.store, 'full');
  await testAccount(box.store, 'moved');
  await box.store.write(setQuota, { account: full, bytes: 0 });
  await box.store.write(forward, { from: 'sales@box.test', to: 'one@fails.example', keep: false });
  await box.store.write(forward, { from: 'moved@box.test', to: 'two@fails.example', keep: false });
  queue = new StoreQueue({ store: box.store, hold: null, traceId: () => `report-${++made}` });
  backend = testBackend(box);
});
afterEach(() => box[Symbol.asyncDispose]());

/** Everything that waits is refused for good, until nothing waits; answers to whom all of it was. */
async function failAll(): Promise<string[]> {
  const tried: string[] = [];
  for (;;) {
    const { items: rows } = await queue.due({
      now: box.clock.now,
      limit: 1000,
      lanes: [],
      owners: [],
      after: undefined,
    });
    if (rows.length === 0) return tried;
    tried.push(...rows.map((row) => formatAddress(row.recipient)));
    const place = { host: undefined, tls: '', now: box.clock.now, random: () => 0.5 };
    const ended = rows.map((item) => ({
      item,
      result: toAttemptResult(item, failed('5.1.1', 'no such user'), place),
      dsnPassedOn: false,
    }));
    // One after the other, as destinations answer.
    for (const one of ended) {
      const reports = composeReports([one], Buffer.from('Subject: x\r\n'), { hostname: 'mail.box.test', now: 0 });
      await queue.finish([one.result], reports);
    }
  }
}

/** PostgreSQL makes a commit of each, which takes it longer. */
const SPOOFED = onPostgres ? 1_000 : 10_000;

test(`of ${SPOOFED} spoofed mails none makes us write to who is named as the sender`, async () => {
  const tagged = await sentBy('orders@box.test');
  await failAll();
  const to = [
    'nobody@box.test',
    'full@box.test',
    'sales@box.test',
    'moved@box.test',
    'sales+x@box.test',
    'nobody+x@box.test',
    'postmaster@mail.box.test',
    'SRS0=aaaaaaaaaa=ab=victim.example=joe@box.test',
    tagged,
    tagged.replace(/-.{4}/, '-aaaa'),
  ];
  const headers = ['', 'Auto-Submitted: auto-replied\n', 'Disposition-Notification-To: joe@victim.example\n'];
  let accepted = 0;
  for (let n = 0; n < SPOOFED; n++) {
    const from = `joe${n}@victim.example`;
    const body = `From: ${from}\nReturn-Receipt-To: ${from}\n${headers[n % 3] ?? ''}\nbuy ${n}\n`;
    const said = await receiveMessage(backend, { from, to: to[n % to.length] ?? '', body });
    if (typeof said === 'object' && !('code' in said)) accepted++;
  }
  expect(accepted).toBeGreaterThan(SPOOFED / 10);
  const tried = await failAll();
  expect(tried.length).toBeGreaterThan(SPOOFED / 20);
  expect(tried.filter((one) => one.includes('victim'))).toEqual([]);
}, 240_000);

/** A message to nobody elsewhere; answers the sender that the copy leaves under. */
async function sentBy(sender: string, to = 'nobody@fails.example'): Promise<string> {
  const mail = outgoing('Subject: hello\r\n\r\nhello\r\n', [to], { trace: `sent-${++made}`, sender });
  const done = await box.store.write(submit, unlimitedSubmission(mail));
  const id = done.kind === 'taken' ? (done.rows[0] ?? 0) : 0;
  const path =
    sender === ''
      ? undefined
      : await new ReturnPaths(box.store, BOX_KEY, Date.now).find({ id, sender: toAddress(sender) });
  return path === undefined ? '' : formatAddress(path);
}

describe('a bounce makes at most one message, and then the queue is empty:', () => {
  test.each([
    ['to its sender', 'me@box.test', 1],
    ['to the null sender', '', 0],
    ['to an address that only forwards', 'sales@box.test', 0],
    ['to a mailbox that forwards all it gets', 'moved@box.test', 1],
    ['to a mailbox that is full', 'full@box.test', 1],
    ['to nobody here', 'nobody@box.test', 0],
    ['to itself', 'mailer-daemon@mail.box.test', 0],
  ])('%s', async (_, sender, messages) => {
    await sentBy(sender);
    // One try for the message. What goes to our own name is a second try, which ends there.
    const tried = await failAll();
    expect(tried.length).toBeLessThanOrEqual(2);
    expect(await box.store.read(emails, undefined)).toBe(messages);
    expect(await queue.nextDue()).toBeUndefined();
  });

  test('a bounce that comes back to us as a report is delivered once and answered never', async () => {
    const path = await sentBy('me@box.test');
    await failAll();
    const before = await box.store.read(emails, undefined);
    const body = 'Message-ID: <1@x>\nContent-Type: multipart/report; boundary=b\n\n--b\n\n--b--\n';
    for (let time = 0; time < 3; time++) await receiveMessage(backend, { to: path, body });
    expect(await box.store.read(emails, undefined)).toBe(before + 1);
    expect(await failAll()).toEqual([]);
  });
});

describe('a report that goes back to an author elsewhere', () => {
  const author = { local: 'ann', domain: 'author.example' };
  const path = () => {
    const rewritten = rewriteSender(author, 'box.test', Buffer.alloc(32, 3), box.clock.now);
    return rewritten === undefined ? '' : formatAddress(rewritten);
  };
  const authenticated = (dmarc: Partial<Authentication['dmarc']>): Authentication => ({
    spf: { result: 'none', domain: '' },
    dkim: [],
    dmarc: { result: 'none', policy: 'none', domain: 'box.test', organization: 'box.test', aligned: false, ...dmarc },
    arc: 'none',
    iprev: { result: 'none', name: '', ip: '192.0.2.1' },
  });
  const come = (from: string, by = backend) =>
    receiveMessage(by, { to: path(), body: `From: ${from}\nSubject: Undelivered Mail\n\nsorry\n` });

  test.each([
    'MAILER-DAEMON@mx.remote.example (Mail Delivery System)',
    'Mail Delivery System <Mailer-Daemon@remote.example>',
    'Mail Delivery Subsystem <MAILER-DAEMON>',
    '<>',
    'postmaster@notbox.test',
    '"We are box.test" <x@remote.example>',
  ])('goes there when its author is who reports: %s', async (from) => {
    expect(await come(from)).toEqual({ kind: 'accepted' });
    expect(await failAll()).toEqual(['ann@author.example']);
  });

  test.each([
    'Chief <me@box.test>',
    'me@BOX.test',
    'x@sub.box.test',
    'MAILER-DAEMON@mail.box.test (Mail Delivery System)',
    '"me@box.test" <x@evil.example>',
    '=?utf-8?q?me=40box=2Etest?= <x@evil.example>',
    'x@evil.example (me@box.test)',
    'x@evil.example\nFrom : me@box.test',
    'a@evil.example, me@box.test',
    `${Array.from({ length: 60 }, (_, n) => `a@evil${n}.example`).join(', ')}, me@box.test`,
  ])('is refused when it names an author of ours: %s', async (from) => {
    expect(await come(from)).toMatchObject({ code: 550, enhanced: '5.7.1' });
    expect(await failAll()).toEqual([]);
  });

  test.each([
    ['pass', 'box.test', undefined],
    ['pass', 'evil.example', 550],
    ['fail', 'box.test', 550],
    ['none', 'box.test', 550],
    ['permerror', '', 550],
    ['temperror', 'box.test', 451],
  ] as const)('whose author is of ours and DMARC says %s of %s: %s', async (result, domain, code) => {
    const requesting = testBackend(box, {
      filter: filteringBy(() => Promise.resolve(authenticated({ result, domain }))),
    });
    expect(await come('me@box.test', requesting)).toMatchObject(code === undefined ? { kind: 'accepted' } : { code });
  });

  test('asks nobody about an author elsewhere', async () => {
    const requesting = testBackend(box, { filter: filteringBy(() => Promise.reject(new Error('nobody is asked'))) });
    expect(await come('MAILER-DAEMON@remote.example', requesting)).toEqual({ kind: 'accepted' });
  });
});
