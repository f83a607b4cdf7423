import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import '../../support/gate-that-holds-all.ts';
import { submit } from '../../../mail/delivery/submission-commit.ts';
import { decideApproval } from '../../../src/approvals/commands.ts';
import { watchResources } from '../../../src/mcp/watch.ts';
import { rowId } from '../../../src/core/ids.ts';
import { holdMail } from '../../support/held-mail.ts';
import { unlimitedSubmission, outgoing } from '../../support/submission.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

const URI = 'mail://outbox';
const PATIENT = { timeout: 60_000 };

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

let gone: AbortController;
beforeEach(() => {
  gone = new AbortController();
});
afterEach(() => gone.abort());

/** A subscription to the outbox, and the number of change notifications. */
async function subscribed(caller = tenants.a.caller): Promise<{ told: number; ended: Promise<void> }> {
  const opened = await watchResources(tenants.world, caller, [URI], gone.signal);
  expect(opened?.uris).toEqual([URI]);
  const seen = { told: 0, ended: Promise.resolve() };
  seen.ended = opened?.run(() => seen.told++) ?? Promise.resolve();
  return seen;
}

const account = (): number => rowId('mailbox', tenants.a.main.mailboxId) ?? 0;
const mine = (): { tenant: number; account: number; sender: string } => ({
  tenant: tenants.a.caller.organization ?? 0,
  account: account(),
  sender: tenants.a.main.address,
});

test('a subscription is informed when mail comes to wait, and what became of it', async () => {
  const seen = await subscribed();
  const limited = await subscribed(await tenants.caller({ actions: ['read'], mailboxIds: [tenants.a.side.mailboxId] }));
  const theirs = await subscribed(tenants.b.caller);
  const { id } = await holdMail(tenants.world.store, mine());
  await expect.poll(() => seen.told, PATIENT).toBe(1);
  const decision = { id, tenant: mine().tenant, accounts: null, approves: false, by: 'ada', sha256: null };
  expect(await tenants.world.store.write(decideApproval, decision)).toEqual({ kind: 'denied' });
  await expect.poll(() => seen.told, PATIENT).toBe(2);
  await tenants.do('withdraw_outbox_item', { outboxId: tenants.a.main.outboxId });
  await expect.poll(() => seen.told, PATIENT).toBe(3);
  expect([limited.told, theirs.told]).toEqual([0, 0]);
});

test('mail that leaves at once is none of its business', async () => {
  const seen = await subscribed();
  const told: string[] = [];
  const stop = await tenants.world.waits.journal.follow({ tenant: mine().tenant, accounts: null }, (lines) =>
    told.push(...lines.map(({ event }) => event)),
  );
  const text = `From: ${mine().sender}\r\nTo: x@far.example\r\n\r\nx\r\n`;
  const mail = outgoing(text, ['x@far.example'], { ...mine(), trace: 'at-once' });
  expect(await tenants.world.store.write(submit, unlimitedSubmission(mail))).toMatchObject({ kind: 'taken' });
  await expect.poll(() => told, PATIENT).toContain('submitted');
  stop();
  expect(seen.told).toBe(0);
});

test('while nothing happens a subscription asks nothing of the store', async () => {
  const read = vi.spyOn(tenants.world.store, 'read');
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
  try {
    await subscribed();
    // It looks once at its beginning.
    await vi.advanceTimersByTimeAsync(100);
    read.mockClear();
    // Less than the pause between looks at its token.
    await vi.advanceTimersByTimeAsync(4_800);
    expect(read).not.toHaveBeenCalled();
  } finally {
    gone.abort();
    vi.useRealTimers();
    read.mockRestore();
  }
});
