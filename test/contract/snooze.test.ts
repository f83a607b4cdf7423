import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SnoozeReturn } from '../../mail/jobs/snooze-return.ts';
import { changeEmails, destroyEmails } from '../../mail/store/message/email-change-commands.ts';
import { snoozedEmails, snoozeEmails } from '../../mail/store/message/snooze.ts';
import { query } from '../../mail/store/engine/types.ts';
import { kwList, SEEN } from '../../mail/store/mailbox/flags.ts';
import { rowIn } from '../../src/core/message-ids.ts';
import { putMail } from '../support/put-mail.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;

/** Names of the flags of an email. */
const flagsOf = query('test-flags', async (rx, { email }: { email: number }): Promise<string[]> => {
  const row = await rx.get<{ flags: number; kw: string | null; account: number }>(
    'SELECT n.flags, n.kw, m.account_id AS account FROM entry n JOIN mailbox m ON m.id = n.mailbox_id WHERE n.email_id = ?',
    email,
  );
  if (row === undefined) return [];
  const slots = await rx.all<{ slot: number; name: string }>(
    'SELECT slot, name FROM keyword WHERE account_id = ?',
    row.account,
  );
  const named = slots.filter(({ slot }) => (row.flags & (1 << slot)) !== 0).map(({ name }) => name);
  return [...(row.flags & SEEN ? ['seen'] : []), ...named, ...kwList(row.kw)].toSorted();
});

let box: TestStore;
let account: number;
let first: number;
let second: number;

beforeEach(async () => {
  box = await testStore();
  ({ account } = await testAccount(box.store));
  first = await put('Subject: x\nMessage-ID: <1@x.test>\n\nhello\n');
  second = await put('Subject: Re: x\nIn-Reply-To: <1@x.test>\n\nhello again\n');
});
afterEach(() => box[Symbol.asyncDispose]());

const put = async (text: string): Promise<number> =>
  rowIn('email', account, await putMail(box.store, { account, receivedAt: box.clock.now }, text)) ?? 0;
const flags = (email: number): Promise<string[]> => box.store.read(flagsOf, { email });
const snooze = (until: number | null, emails = [first, second], lead = second) =>
  box.store.write(snoozeEmails, { account, emails, lead, until });
const run = (): Promise<number | undefined> => new SnoozeReturn(box.store, () => box.clock.now).run();
const listed = () => box.store.read(snoozedEmails, { account });

describe('a snoozed conversation', () => {
  test('is read and has the keyword until its time, then its newest message is unread and new, for a day', async () => {
    const until = box.clock.now + 3 * HOUR;
    expect(await snooze(until)).toEqual({ kind: 'done', changed: 2 });
    expect([await flags(first), await flags(second)]).toEqual([
      ['$snoozed', 'seen'],
      ['$snoozed', 'seen'],
    ]);
    box.clock.now = until - 1;
    expect(await run()).toBe(until);
    expect(await flags(second)).toEqual(['$snoozed', 'seen']);
    box.clock.now = until;
    expect(await run()).toBe(until + DAY);
    expect([await flags(first), await flags(second)]).toEqual([['seen'], ['$new']]);
    expect(await listed()).toEqual([{ email: second, until: until + DAY, back: true }]);
    box.clock.now = until + DAY;
    expect(await run()).toBeUndefined();
    expect([await flags(second), await listed()]).toEqual([[], []]);
  });

  test('comes back when its time passed while the box was off', async () => {
    const until = box.clock.now + HOUR;
    await snooze(until);
    await box.reopen();
    box.clock.now = until + 5 * DAY;
    await run();
    expect(await flags(second)).toEqual(['$new']);
  });

  test('ends early, without becoming unread', async () => {
    await snooze(box.clock.now + HOUR);
    expect(await snooze(null)).toEqual({ kind: 'done', changed: 2 });
    expect([await flags(first), await flags(second), await listed()]).toEqual([['seen'], ['seen'], []]);
  });

  test('snoozed again, has the later time and is not new', async () => {
    await snooze(box.clock.now + HOUR);
    box.clock.now += HOUR;
    await run();
    const until = box.clock.now + 2 * HOUR;
    await snooze(until, [second]);
    expect([await flags(second), await listed()]).toEqual([
      ['$snoozed', 'seen'],
      [{ email: second, until, back: false }],
    ]);
  });

  test('stays read when a mail program took the keyword away', async () => {
    await snooze(box.clock.now + HOUR);
    const remove = { bits: 0, keywords: ['$snoozed'] };
    const keywords = { kind: 'patch', add: { bits: 0, keywords: [] }, remove } as const;
    await box.store.write(changeEmails, {
      account,
      changes: [{ email: second, keywords, mailboxes: null }],
      ifState: null,
    });
    box.clock.now += HOUR;
    await run();
    expect([await flags(second), await listed()]).toEqual([['seen'], []]);
  });

  test('is forgotten when it was deleted', async () => {
    await snooze(box.clock.now + HOUR);
    await box.store.write(destroyEmails, { account, emails: [first, second], ifState: null });
    box.clock.now += HOUR;
    expect(await run()).toBeUndefined();
    expect(await listed()).toEqual([]);
  });
});

test('messages of another account are not snoozed', async () => {
  const other = await testAccount(box.store, 'other', { name: 'other.test' });
  const input = { account: other.account, emails: [first], lead: first, until: box.clock.now + HOUR };
  expect(await box.store.write(snoozeEmails, input)).toEqual({ kind: 'done', changed: 0 });
  expect([await flags(first), await listed()]).toEqual([[], []]);
});
