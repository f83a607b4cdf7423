import { createHash } from 'node:crypto';
import '../../support/gate-that-holds-all.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreBackend } from '../../../mail/imap/store-backend.ts';
import { ScheduledMail } from '../../../mail/jobs/scheduled-mail.ts';
import { quiet } from '../../../mail/log.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { destroyEmails } from '../../../mail/store/message/email-change-commands.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { OPERATOR_VIEW } from '../../../mail/store/journal/journal.ts';
import { queueOfTrace } from '../../../mail/store/queue/queue-rows.ts';
import { firstBrokenAuditRow, listAudit } from '../../../src/audit/queries.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { perform } from '../../../src/operations/perform.ts';
import { releaseOutboxItem } from '../../../src/operations/operator/outbox.ts';
import { ApprovalWorld } from '../../support/approval-world.ts';
import { holdMail } from '../../support/held-mail.ts';

const passwordOf = query('test-password', async (rx, { account }: { account: number }) => {
  const sql = 'SELECT id FROM credential WHERE account_id = ?';
  return (await rx.get<{ id: number }>(sql, account))?.id ?? 0;
});
const DELETED = { bits: 16, keywords: [] };
const MEGABYTE = 1_000_000;

let world: ApprovalWorld;
let credential: number;
let person: StoreBackend;

beforeEach(async () => {
  world = await ApprovalWorld.open();
  const { store, clock } = world.made.world;
  credential = await store.read(passwordOf, { account: world.account });
  person = new StoreBackend(store, world.account, clock, { actor: { credential } });
});
afterEach(() => world[Symbol.asyncDispose]());

async function inMailbox(name: string): Promise<{ mailbox: number; uids: number[] }> {
  const found = await person.mailbox(name);
  const view = await person.open(found?.id ?? 0);
  const uids = Array.from(view.uids.subarray(0, view.length));
  view.close();
  return { mailbox: found?.id ?? 0, uids };
}

async function moveToApproved(): Promise<unknown> {
  const { mailbox, uids } = await inMailbox('Awaiting approval');
  return person.copy(mailbox, uids, 'Approved', true);
}

const audit = (organization = world.acme.id) =>
  world.made.world.store.read(listAudit, { organization, before: null, limit: 20 });
/** Every kind of decision about mail that waits, oldest first. */
const decisions = async () =>
  (await audit()).filter(({ operation }) => operation.endsWith('_outbox_item')).toReversed();

describe('the audit log has who decided with a mail program', () => {
  test('by moving to Approved', async () => {
    const ids = [await world.hold(), await world.hold()];
    expect(await moveToApproved()).toMatchObject({ kind: 'done' });
    const who = { actor: `mbx_${world.account}`, actorName: 'anna@anna.test', way: 'imap', outcome: 'approved' };
    expect(await decisions()).toMatchObject(
      ids.map((id) => ({ ...who, operation: 'approve_outbox_item', target: `out_${id}` })),
    );
    expect((await decisions())[0]?.detail).toEqual({
      passwordId: expect.stringContaining(`_${credential}`) as unknown,
    });
    expect(await world.made.world.store.scan(firstBrokenAuditRow, { organization: world.acme.id })).toBeUndefined();
  });

  test('by moving to the trash, by expunging, and over JMAP', async () => {
    const first = await world.hold();
    const here = await inMailbox('Awaiting approval');
    await person.copy(here.mailbox, here.uids, 'Trash', true);
    const second = await world.hold();
    const next = await inMailbox('Awaiting approval');
    await person.store(next.mailbox, next.uids, 'add', DELETED);
    await person.expunge(next.mailbox, next.uids);
    const third = await world.hold();
    const email = (await world.item(third))?.approval?.email ?? 0;
    const destroy = { account: world.account, emails: [email], ifState: null, actor: { credential } };
    await world.made.world.store.write(destroyEmails, destroy);
    const denied = { operation: 'deny_outbox_item', outcome: 'denied', actorName: 'anna@anna.test' };
    expect(await decisions()).toMatchObject([
      { ...denied, target: `out_${first}`, way: 'imap' },
      { ...denied, target: `out_${second}`, way: 'imap' },
      { ...denied, target: `out_${third}`, way: 'jmap' },
    ]);
  });

  test('and nothing of what decides nothing, nor of another organization', async () => {
    await world.hold();
    const here = await inMailbox('Awaiting approval');
    await person.copy(here.mailbox, here.uids, 'Archive', true);
    const agent = new StoreBackend(world.made.world.store, world.account, world.made.world.clock);
    const there = await inMailbox('Archive');
    expect(await agent.copy(there.mailbox, there.uids, 'Approved', true)).toMatchObject({ kind: 'forbidden' });
    expect(await decisions()).toEqual([]);
    expect((await audit(world.other.id)).filter(({ operation }) => operation.endsWith('_outbox_item'))).toEqual([]);
  });

  test('once, where a page decided', async () => {
    const id = await world.hold();
    await world.act(`${world.acme.path}/outbox/out_${id}`, 'approve', world.acme.cookie);
    expect(await decisions()).toMatchObject([{ way: 'portal', target: `out_${id}` }]);
  });
});

/** A message of 1 MB that waits, its octets in a file or in the database. */
async function holdLarge(where: 'file' | 'database'): Promise<{ id: number; trace: string; path: string }> {
  const { store } = world.made.world;
  const text = `From: anna@anna.test\r\nTo: x@elsewhere.test\r\nSubject: Large\r\n\r\n${'All is well, send it on\r\n'.repeat(MEGABYTE / 25)}`;
  const data = Buffer.from(text);
  const over = { tenant: world.acme.id, account: world.account, sender: 'anna@anna.test' };
  if (where === 'database') return { ...(await holdMail(store, over, text)), path: '' };
  const writer = store.files.create();
  await writer.write(data);
  const blob = await writer.finish();
  if (!('file' in blob)) throw new Error('it is not in a file');
  const sha256 = createHash('sha256').update(data).digest('hex');
  const held = await holdMail(store, { ...over, data: null, file: blob, index: indexMessage(data), sha256 });
  return { ...held, path: store.files.path(blob.file) };
}

/** One octet of it is another one from now on. */
async function alter(path: string): Promise<void> {
  if (path === '') {
    await world.break("UPDATE blob SET data = CAST(substr(data, 1, 900000) || x'21' || substr(data, 900002) AS BLOB)");
    return;
  }
  const octets = readFileSync(path);
  octets[900_000] = 0x21;
  writeFileSync(path, octets);
}

async function leaves(trace: string): Promise<string[]> {
  const { store, clock } = world.made.world;
  const forwardKey = Buffer.alloc(32);
  const rest = { hold: null, traceId: () => 'report', queued: () => undefined };
  const scheduler = new ScheduledMail({ store, hostname: 'mail.box.test', clock, log: quiet, forwardKey, ...rest });
  await scheduler.run();
  return (await store.read(queueOfTrace, { ...OPERATOR_VIEW, trace })).map((row) => row.recipient);
}

describe.each(['file', 'database'] as const)('a message of 1 MB in the %s', (where) => {
  test('is approved as it is, and leaves', async () => {
    const { id, trace } = await holdLarge(where);
    await world.act(`${world.acme.path}/outbox/out_${id}`, 'approve', world.acme.cookie);
    expect(await world.item(id)).toMatchObject({ state: 'approved' });
    expect(await leaves(trace)).toEqual(['x@elsewhere.test']);
  });

  test('that one octet of was changed is void when somebody approves it on the page', async () => {
    const { id, trace, path } = await holdLarge(where);
    await alter(path);
    const said = await world.act(`${world.acme.path}/outbox/out_${id}`, 'approve', world.acme.cookie);
    expect([said.statusCode, said.body]).toEqual([422, expect.stringContaining('changed after it was held')]);
    expect(await world.item(id)).toMatchObject({ state: 'expired' });
    expect(await leaves(trace)).toEqual([]);
  });

  test('that one octet of was changed is not let go at the machine', async () => {
    const { id, trace, path } = await holdLarge(where);
    await alter(path);
    const queried = { outboxId: `out_${id}` };
    expect(await perform(world.made.world, releaseOutboxItem, operatorCaller(), queried)).toMatchObject({
      refusal: { error: 'not_found' },
    });
    expect(await leaves(trace)).toEqual([]);
  });

  test('that one octet of was changed does not leave, however it was let go', async () => {
    const { trace, path } = await holdLarge(where);
    await alter(path);
    await moveToApproved();
    expect(await leaves(trace)).toEqual([]);
    const again = await holdLarge(where);
    await moveToApproved();
    await alter(again.path);
    expect(await leaves(again.trace)).toEqual([]);
  });
});
