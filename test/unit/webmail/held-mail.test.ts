import { DatabaseSync } from 'node:sqlite';
import '../../support/gate-that-holds-all.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findOutboxItem, type OutboxItem } from '../../../mail/delivery/outbox-items.ts';
import { createMailbox, listMailboxes } from '../../../mail/store/mailbox/mailbox.ts';
import { jmapId } from '../../../mail/store/object-id.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { holdMail } from '../../support/held-mail.ts';
import { http } from '../../support/mcp.ts';

const MINUTE_MS = 60_000;
let box: ConsentWorld;
beforeAll(async () => {
  box = await consentWorld();
});
afterAll(() => box[Symbol.asyncDispose]());

/** A message of Anna's that awaits approval: its number and its copy. */
async function held(): Promise<{ id: number; email: string }> {
  const { id } = await holdMail(box.world.store, { tenant: 1, account: box.anna, sender: 'anna@box.test' });
  return { id, email: jmapId('email', (await item(id))?.approval?.email ?? 0) };
}

const item = (id: number): Promise<OutboxItem | undefined> =>
  box.world.store.read(findOutboxItem, { id, now: box.clock.now });

/** State and decider of a message. */
async function decision(id: number): Promise<unknown[]> {
  const found = await item(id);
  return [found?.state, found?.approval?.decidedBy ?? null];
}

async function openMail(someone: Someone): Promise<Someone> {
  const form = await someone.visitor.formToken('/account');
  await someone.visitor.post('/mail/open', { form, mailbox: `mbx_${box.anna}` });
  return someone;
}

const reader = async (): Promise<Someone> => openMail(await box.someone('member', 1, [box.anna]));

async function mailbox(name: string): Promise<string> {
  const { store } = box.world;
  const found = (await store.read(listMailboxes, { account: box.anna })).find((one) => one.name === name);
  if (found !== undefined) return jmapId('mailbox', found.id);
  await store.write(createMailbox, { account: box.anna, name, role: null });
  return mailbox(name);
}

/** Changes an email as web mail does; the refusal, if there is one. */
async function set({ visitor }: Someone, args: object): Promise<string | undefined> {
  const cookie = `mailstead-mail=${visitor.cookieOf('mailstead-mail')}`;
  const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
  const methodCalls = [['Email/set', { accountId: `mbx_${box.anna}`, ...args }, '0']];
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const { json } = await http('POST', `${box.base}/mail/jmap/api`, headers, JSON.stringify({ using, methodCalls }));
  const [, done] = (json as { methodResponses: [string, Record<string, Record<string, unknown> | null>][] })
    .methodResponses[0] ?? ['', {}];
  const [refused] = Object.values({ ...done['notUpdated'], ...done['notDestroyed'] });
  return (refused as { description: string } | undefined)?.description;
}

const moveTo = async (someone: Someone, email: string, name: string): Promise<string | undefined> =>
  set(someone, { update: { [email]: { mailboxIds: { [await mailbox(name)]: true } } } });

/** Audit rows about a message. */
function audited(id: number): unknown[] {
  using db = new DatabaseSync(box.world.store.database);
  const rows = db.prepare('SELECT actor, actor_name, endpoint, operation FROM audit WHERE target = ? ORDER BY id');
  return rows.all(`out_${id}`).map((row) => Object.values(row));
}

test('a person who opened web mail from the portal files held mail elsewhere; it still waits', async () => {
  const { id, email } = await held();
  const someone = await reader();
  expect(await moveTo(someone, email, 'Projects')).toBeUndefined();
  expect(await decision(id)).toEqual(['pending', null]);
});

test.each(['Trash', 'nowhere'])('held mail that they move to %s is rejected in their name', async (where) => {
  const { id, email } = await held();
  const someone = await reader();
  if (where === 'Trash') expect(await moveTo(someone, email, 'Trash')).toBeUndefined();
  else expect(await set(someone, { destroy: [email] })).toBeUndefined();
  expect(await decision(id)).toEqual(['denied', someone.email]);
  expect(audited(id)).toEqual([[`usr_${someone.user}`, someone.email, 'portal', 'deny_outbox_item']]);
});

test('held mail that they move to Approved is sent, for 15 minutes after they signed in', async () => {
  const [one, two] = [await held(), await held()];
  const someone = await reader();
  expect(await moveTo(someone, one.email, 'Approved')).toBeUndefined();
  expect(await decision(one.id)).toEqual(['approved', someone.email]);
  expect(audited(one.id)).toEqual([[`usr_${someone.user}`, someone.email, 'portal', 'approve_outbox_item']]);
  box.clock.now += 16 * MINUTE_MS;
  expect(await moveTo(someone, two.email, 'Approved')).toContain('approve the message in the portal');
  expect(await decision(two.id)).toEqual(['pending', null]);
  expect(await moveTo(someone, two.email, 'Trash')).toBeUndefined();
  expect(await decision(two.id)).toEqual(['denied', someone.email]);
});

test('a member whose own address it is, but who may not decide about its mail, moves none of it', async () => {
  const { id, email } = await held();
  const someone = await box.someone('member');
  using db = new DatabaseSync(box.world.store.database);
  const own = db.prepare('UPDATE user SET email = ?1, email_key = ?1, address_verified_at = 1 WHERE id = ?2');
  own.run('anna@box.test', someone.user);
  await openMail(someone);
  expect(await moveTo(someone, email, 'Trash')).toContain('an owner approves it in the portal');
  expect(await decision(id)).toEqual(['pending', null]);
});
