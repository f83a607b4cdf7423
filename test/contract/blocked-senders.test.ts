import type { OutgoingMessage } from '../../mail/delivery/types.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deliveryTrace } from '../../mail/delivery/deliver.ts';
import { scheduleMessage } from '../../mail/delivery/scheduled-messages.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { ScheduledMail } from '../../mail/jobs/scheduled-mail.ts';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import type { StoreReceiverBackend } from '../../mail/receiver/store-backend.ts';
import { addAlias } from '../../mail/store/address/alias.ts';
import { domainsOf } from '../../mail/store/address/domain.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { filterResultsOf } from '../../mail/store/filter/filter-result.ts';
import { addSenderRule, type NewSenderRule } from '../../mail/store/filter/sender-rule.ts';
import { testAlias } from '../support/aliases.ts';
import { receiveMessage, type TestMessage, testBackend, toAddress } from '../support/receive-message.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';

const BEN = 'ben@other.test';
const LETTER = `From: ${BEN}\nSubject: hello\n\nhello\n`;

const keep = command('test-keep', (tx, input: { mail: OutgoingMessage; until: number }, stamp): Promise<number> =>
  scheduleMessage(tx, input.mail, { until: input.until, heldBecause: null, skipsSuppressed: true }, stamp),
);
const forward = command('test-forward', (tx, { from, to }: { from: string; to: string }, stamp): Promise<unknown> =>
  tx.run(
    `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key, keep_local, created_at)
     SELECT 1, id, ?1, ?1, ?2, ?2, 0, ?3 FROM domain WHERE name = 'box.test'`,
    from,
    to,
    stamp.now,
  ),
);
interface Lying extends Record<string, string | number | null> {
  email: number;
  owner: string;
  role: string;
  trace: string;
}
const lying = query('test-lying', (rx) =>
  rx.all<Lying>(
    `SELECT e.id AS email, a.address AS owner, m.role, e.trace FROM entry n JOIN mailbox m ON m.id = n.mailbox_id
       JOIN email e ON e.id = n.email_id JOIN account a ON a.id = e.account_id ORDER BY e.id`,
  ),
);

let box: TestStore;
let backend: StoreReceiverBackend;
let anna: number;
let bert: number;
/** Account of another organization. */
let ben: number;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, keep, forward] });
  ({ account: anna } = await testAccount(box.store, 'anna'));
  ({ account: bert } = await testAccount(box.store, 'bert'));
  ({ account: ben } = await testAccount(box.store, 'ben', { tenant: 2, name: 'other.test' }));
  backend = testBackend(box, {
    senderOf: (account) => Promise.resolve({ tenant: account === ben ? 2 : 1, allowance: null }),
  });
});
afterEach(() => box[Symbol.asyncDispose]());

const add = (rule: Partial<NewSenderRule> & { pattern: string }) =>
  box.store.write(addSenderRule, { tenant: 1, account: anna, outward: false, kind: 'block', note: '', ...rule });
const send = (more: Partial<TestMessage> = {}) =>
  receiveMessage(backend, {
    from: BEN,
    to: 'anna@box.test',
    body: LETTER,
    login: { account: ben, address: BEN },
    ...more,
  });
const positions = async (): Promise<string[]> =>
  (await box.store.read(lying, undefined)).map((one) => `${one.owner} ${one.role}`);

/** Submits through the gate, as every protocol does. */
const submitted = (from: string, account: number | null = ben) => {
  const here = [{ account: anna, to: 'anna@box.test', trace: deliveryTrace(from, 'anna@box.test') }];
  const mail = outgoing(LETTER, [], { trace: 'gate', tenant: 2, account, sender: from, here });
  return box.store.write(submit, unlimitedSubmission(mail));
};

describe('a mailbox of another organization on this box', () => {
  test.each([
    ['its address, for a mailbox', { pattern: BEN }],
    ['its domain, for an organization', { pattern: 'other.test', account: null }],
  ])('is blocked by %s, at RCPT and at the gate', async (_name, rule) => {
    expect(await send()).toEqual({ kind: 'accepted' });
    expect(await submitted(BEN)).toMatchObject({ kind: 'taken' });
    await add(rule);
    expect(await send()).toBe('blocked');
    const refused = { kind: 'refused', because: `anna@box.test takes no mail from ${BEN}` };
    expect(await submitted(BEN)).toEqual(refused);
    expect(await submitted(BEN, null)).toEqual(refused);
    expect(await positions()).toEqual(['anna@box.test inbox', 'anna@box.test inbox']);
  });

  test('is not by rules of others, or about where mail goes', async () => {
    await add({ pattern: BEN, account: bert });
    await add({ pattern: BEN, outward: true });
    expect(await send()).toEqual({ kind: 'accepted' });
  });

  test('is not where a more exact rule allows it', async () => {
    await add({ pattern: 'other.test' });
    await add({ pattern: BEN, kind: 'allow' });
    expect(await send()).toEqual({ kind: 'accepted' });
    expect(await submitted(BEN)).toMatchObject({ kind: 'taken' });
    await add({ pattern: 'ben+x@other.test' });
    expect(await send({ from: 'ben+x@other.test' })).toMatchObject({ code: 550 });
  });

  test('is blocked by its author as well, at the end', async () => {
    const [domain] = await box.store.read(domainsOf, { tenant: 2 });
    const alias = { tenant: 2, domain: domain?.id ?? 0, key: 'shop@other.test', accounts: [ben], note: '' };
    await box.store.write(addAlias, { ...alias, expiresAt: null, most: null });
    await add({ pattern: 'shop@other.test' });
    expect(await send({ body: 'From: shop@other.test\n\nx\n' })).toMatchObject({
      code: 550,
      text: 'anna@box.test takes no mail from shop@other.test',
    });
    expect(await positions()).toEqual([]);
  });

  test('reaches those of an alias that do not block it', async () => {
    await testAlias(box, 'team', { accounts: [anna, bert] });
    await add({ pattern: BEN });
    expect(await send({ to: 'team@box.test' })).toEqual({ kind: 'accepted' });
    expect(await positions()).toEqual(['bert@box.test inbox']);
  });

  test('is Junk where a forward leads to who blocks it', async () => {
    await box.store.write(forward, { from: 'sales@box.test', to: 'anna@box.test' });
    await add({ pattern: BEN });
    expect(await send({ to: 'sales@box.test' })).toEqual({ kind: 'accepted' });
    expect(await positions()).toEqual(['anna@box.test junk']);
    const [row] = await box.store.read(lying, undefined);
    expect(row?.trace).toContain('X-Mailstead-Verdict: junk (100 of 5);\r\n\tblock-list 100\r\n');
    const filtered = (await box.store.read(filterResultsOf, { emails: [row?.email ?? 0] })).get(row?.email ?? 0);
    expect(filtered).toMatchObject({
      trust: { verdict: 'suspicious', externalSender: false },
      verdict: { outcome: 'junk', findings: [{ why: `Mail from ${BEN} is blocked by the mailbox` }] },
    });
  });

  test('is Junk where it was blocked while its message waited', async () => {
    const mail = outgoing(LETTER, [], { trace: 'later', tenant: 2, account: ben, sender: BEN });
    const here = [{ account: anna, to: 'anna@box.test', trace: '' }];
    await box.store.write(keep, { mail: { ...mail, here }, until: box.clock.now + 1000 });
    await add({ pattern: BEN });
    box.clock.now += 2000;
    const scheduler = new ScheduledMail({
      store: box.store,
      hostname: 'mail.box.test',
      clock: () => box.clock.now,
      log: quiet,
      forwardKey: Buffer.alloc(32),
      hold: null,
      queued: () => undefined,
      traceId: () => 'report',
    });
    await scheduler.run();
    expect(await positions()).toEqual(['anna@box.test junk']);
  });
});

test('within an organization nobody is blocked', async () => {
  await add({ pattern: 'box.test' });
  await add({ pattern: 'bert@box.test', account: null });
  const login = { account: bert, address: 'bert@box.test' };
  expect(await send({ from: 'bert@box.test', login, body: 'From: bert@box.test\n\nx\n' })).toEqual({
    kind: 'accepted',
  });
  expect(await positions()).toEqual(['anna@box.test inbox']);
});

test('the null reverse-path is nobody at RCPT, and its author is asked about at the end', async () => {
  await add({ pattern: BEN });
  expect(
    (await backend.route(toAddress('anna@box.test'), { account: ben, address: toAddress(BEN), credential: 1 })).kind,
  ).toBe('here');
  expect(await send({ from: '' })).toMatchObject({ code: 550 });
});
