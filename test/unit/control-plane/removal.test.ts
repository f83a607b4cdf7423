import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { anonymousCaller, operatorCaller, tokenCaller } from '../../../src/core/caller.ts';
import { perform } from '../../../src/operations/perform.ts';
import { findToken } from '../../../src/tokens/commands.ts';
import { secretHash } from '../../../src/core/token.ts';
import { accountByKey } from '../../../mail/store/account/account.ts';
import { addDomain } from '../../../mail/store/address/domain.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { setLegalHold } from '../../../mail/store/retention/rules.ts';
import { listAudit } from '../../../src/audit/queries.ts';
import { deleteOrganization, purgeDeletedOrganizations } from '../../../src/organizations/deletion-commands.ts';
import { putMail } from '../../support/put-mail.ts';
import { dueMessages } from '../../../mail/delivery/scheduled-messages.ts';
import { rowId } from '../../../src/core/ids.ts';
import { freezeOrganization } from '../../../src/organizations/commands.ts';
import type { AppContext } from '../../../src/core/app-context.ts';
import { send } from '../../../src/http/routes/send-requests.ts';
import { testWorld } from '../../support/world.ts';

const plantAttempt = command('test-attempt', async (tx, input: { account: number }, stamp): Promise<void> => {
  await tx.run(
    `INSERT INTO webhook_delivery (listener_id, account_id, event_id, event, email_id, trace, at, url, outcome, request,
       response, duration_ms)
     SELECT coalesce((SELECT id FROM listener WHERE account_id = ?1), 1), ?1, 1, 'received', 1, '', ?2,
       'http://127.0.0.1:9/hook', 'later', '', '', 1`,
    input.account,
    stamp.now,
  );
});

test('a removed organization leaves nothing but its audit rows', async () => {
  await using made = await testWorld({}, [plantAttempt]);
  const { world, store } = made;
  const run = async (caller: Parameters<typeof perform>[2], name: string, input: object) => {
    const operation = findOperation(name);
    if (operation === undefined) throw new Error(name);
    const done = await perform(world, operation, caller, input);
    if (done.kind === 'refused') throw new Error(JSON.stringify(done.refusal));
    return done.result;
  };
  const before = rowsOf(store.dataDir);
  const nobody = anonymousCaller('rest', '192.0.2.7');
  const { token, organization } = await run(nobody, 'create_account_and_claim_link', {
    organizationName: 'Short-lived',
    ownerEmail: 'owner@elsewhere.example',
  });
  const found = await world.store.read(findToken, { hash: secretHash(String(token)) });
  if (found === undefined) throw new Error('no token');
  const owner = tokenCaller(found, 'rest', '192.0.2.7');
  await run(owner, 'add_email_domain', { domain: 'short.test' });
  await run(owner, 'verify_email_domain', { domain: 'short.test' });
  const { service } = (await run(owner, 'create_service', { name: 'app' })) as { service: { id: string } };
  await run(owner, 'provision_email', { domain: 'short.test', localPart: 'me', attachServiceId: service.id });
  await run(owner, 'create_app_password', { address: 'me@short.test', name: 'phone' });
  await run(owner, 'create_email_api_key', { name: 'key' });
  await run(owner, 'set_email_inbound_webhook', { address: 'me@short.test', url: 'http://127.0.0.1:9/hook' });
  await run(owner, 'set_email_forwarder', {
    sourceAddress: 'me@short.test',
    destinationAddress: 'me@elsewhere.example',
  });
  await run(owner, 'create_project', { name: 'Second' });

  const { id, slug } = organization as { id: string; slug: string };
  await run(owner, 'add_suppression', { address: 'gone@elsewhere.example' });
  await sends(world, rowId('organization', id) ?? 0);

  await run(operatorCaller(), 'remove_organization', { targetOrganizationId: id, confirm: slug, permanently: true });
  const after = rowsOf(store.dataDir);
  const left = Object.keys(after).filter((table) => after[table] !== before[table]);
  // The gone account is emptied by housekeeping; the claim mail and what was counted belong to the box.
  expect(left.toSorted()).toEqual([
    'account',
    'audit',
    'blob',
    'journal',
    'mailbox',
    'queue',
    'queue_lane',
    'rate_limit_hit',
    'setting',
    'submission',
  ]);
});

/** One message now and one later, both with a key that keeps them from being sent twice, and an attempt of a webhook. */
async function sends(world: AppContext, organization: number): Promise<void> {
  const mail = { from: 'me@short.test', to: 'you@elsewhere.example', subject: 'x', text: 'x' };
  const sender = { organization, credential: 'key_1', allowedDomains: null, account: null, detectsDuplicates: false };
  await send(world, sender, mail, 'now');
  const sendAt = new Date(world.clock() + 3_600_000).toISOString();
  await send(world, sender, { ...mail, sendAt }, 'later');
  const account = await world.store.read(accountByKey, { tenant: organization, key: 'me@short.test' });
  await world.store.write(plantAttempt, { account: account?.id ?? 0 });
}

function rowsOf(dataDir: string): Record<string, number> {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'), { readOnly: true });
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`).all();
  return Object.fromEntries(
    tables.map(({ name }) => [
      String(name),
      Number(db.prepare(`SELECT count(*) AS n FROM "${String(name)}"`).get()?.['n']),
    ]),
  );
}

test('what a frozen organization had scheduled waits, and goes on when it may', async () => {
  await using made = await testWorld();
  const { world } = made;
  await world.store.write(addDomain, { tenant: 1, name: 'frozen.test', verified: true });
  const sendAt = new Date(world.clock() + 3_600_000).toISOString();
  const mail = { from: 'me@frozen.test', to: 'you@elsewhere.example', subject: 'x', text: 'x', sendAt };
  await send(
    world,
    { organization: 1, credential: 'key_1', allowedDomains: null, account: null, detectsDuplicates: false },
    mail,
    undefined,
  );
  const due = async () => (await world.store.read(dueMessages, { now: Date.parse(sendAt) })).due.length;
  expect(await due()).toBe(1);
  await world.store.write(freezeOrganization, { id: 1, frozen: true });
  expect(await due()).toBe(0);
  await world.store.write(freezeOrganization, { id: 1, frozen: false });
  expect(await due()).toBe(1);
});

test('an organization with a mailbox under legal hold is not removed, nor frozen', async () => {
  await using made = await testWorld();
  const { world } = made;
  const ask = (caller: Parameters<typeof perform>[2], name: string, input: object) =>
    perform(world, findOperation(name) ?? expect.fail(name), caller, input);
  const created = await ask(anonymousCaller('rest', '192.0.2.7'), 'create_account_and_claim_link', {
    organizationName: 'Held',
    ownerEmail: 'owner@elsewhere.example',
  });
  if (created.kind !== 'done') throw new Error(JSON.stringify(created));
  const { organization } = created.result as { organization: { id: string; slug: string } };
  const owner = operatorCaller(rowId('organization', organization.id) ?? 0);
  await ask(owner, 'add_email_domain', { domain: 'held.test' });
  await ask(owner, 'verify_email_domain', { domain: 'held.test' });
  expect(await ask(owner, 'provision_email', { domain: 'held.test', localPart: 'me' })).toMatchObject({ kind: 'done' });
  const held = { address: 'me@held.test' };
  expect(await ask(owner, 'set_legal_hold', { ...held, reason: 'lawsuit' })).toMatchObject({ kind: 'done' });
  const removal = { targetOrganizationId: organization.id, confirm: organization.slug };
  const refused = await ask(operatorCaller(), 'remove_organization', removal);
  expect(refused).toMatchObject({ kind: 'refused', refusal: { error: 'conflict', resource: 'mailbox' } });
  expect(JSON.stringify(refused)).toContain('me@held.test is under legal hold');
  // An organization that is frozen could change nothing.
  expect(await ask(owner, 'set_legal_hold', held)).toMatchObject({ kind: 'done', result: { held: false } });
  expect(await ask(operatorCaller(), 'remove_organization', removal)).toMatchObject({ kind: 'done' });
});

/** An organization with a mailbox that has a message, as its owner and the operator see it. */
async function ownedOrganization(world: AppContext) {
  const ask = (caller: Parameters<typeof perform>[2], name: string, input: object = {}) =>
    perform(world, findOperation(name) ?? expect.fail(name), caller, input);
  const created = await ask(anonymousCaller('rest', '192.0.2.7'), 'create_account_and_claim_link', {
    organizationName: 'Mistaken',
    ownerEmail: 'owner@elsewhere.example',
  });
  if (created.kind !== 'done') throw new Error(JSON.stringify(created));
  const { organization } = created.result as { organization: { id: string; slug: string } };
  const id = rowId('organization', organization.id) ?? 0;
  const owner = operatorCaller(id);
  await ask(owner, 'add_email_domain', { domain: 'mistaken.test' });
  await ask(owner, 'verify_email_domain', { domain: 'mistaken.test' });
  const made = await ask(owner, 'provision_email', { domain: 'mistaken.test', localPart: 'me' });
  expect(made).toMatchObject({ kind: 'done' });
  const account = (await world.store.read(accountByKey, { tenant: id, key: 'me@mistaken.test' }))?.id ?? 0;
  await putMail(world.store, { account, receivedAt: world.clock() }, 'Subject: kept\n\nkept\n');
  return { ask, owner, id, target: { targetOrganizationId: organization.id }, slug: organization.slug };
}

/** Purges as the retention job does, and counts the domains that are left of the organization. */
async function purge({ world, store }: Awaited<ReturnType<typeof testWorld>>, organization: number): Promise<number> {
  while (await world.store.write(purgeDeletedOrganizations, undefined));
  using db = new DatabaseSync(join(store.dataDir, 'mailstead.db'), { readOnly: true });
  return Number(db.prepare('SELECT count(*) AS n FROM domain WHERE tenant = ?').get(organization)?.['n']);
}

test('a removed organization is closed, and comes back as it was', async () => {
  await using made = await testWorld();
  const { ask, owner, id, target, slug } = await ownedOrganization(made.world);
  const before = await ask(owner, 'get_usage');
  const removed = await ask(operatorCaller(), 'remove_organization', { ...target, confirm: slug });
  const restorableUntil = new Date(made.world.clock() + 30 * 24 * 3600_000).toISOString();
  expect(removed).toMatchObject({ kind: 'done', result: { restorableUntil } });
  expect(JSON.stringify(await ask(operatorCaller(), 'list_organizations'))).toContain(restorableUntil);
  expect(await ask(operatorCaller(), 'unfreeze_organization', target)).toMatchObject({
    kind: 'refused',
    refusal: { error: 'conflict' },
  });
  expect(await purge(made, id)).toBe(1);
  const restored = await ask(operatorCaller(), 'restore_organization', target);
  expect(restored).toMatchObject({ kind: 'done', result: { restored: true, frozen: false } });
  expect(await ask(owner, 'get_usage')).toEqual(before);
  expect(before).toMatchObject({ result: { domains: 1, mailboxes: 1, messages: 1 } });
  expect(await ask(operatorCaller(), 'restore_organization', target)).toMatchObject({ kind: 'refused' });
  made.store.clock.now += 31 * 24 * 3600_000;
  expect(await purge(made, id)).toBe(1);
});

test('an organization that was frozen before its removal is frozen when it comes back', async () => {
  await using made = await testWorld();
  const { ask, target, slug } = await ownedOrganization(made.world);
  await ask(operatorCaller(), 'freeze_organization', target);
  await ask(operatorCaller(), 'remove_organization', { ...target, confirm: slug });
  // A second removal changes neither the time nor what it was before.
  await ask(operatorCaller(), 'remove_organization', { ...target, confirm: slug });
  const restored = await ask(operatorCaller(), 'restore_organization', target);
  expect(restored).toMatchObject({ kind: 'done', result: { frozen: true } });
});

test('an organization whose removal has begun does not come back in parts, and the job ends what a crash left', async () => {
  await using made = await testWorld();
  const { ask, id, target, slug } = await ownedOrganization(made.world);
  await ask(operatorCaller(), 'remove_organization', { ...target, confirm: slug });
  // The server ends right after the first step of a removal for good.
  await made.world.store.write(deleteOrganization, { id, permanently: true });
  expect(await ask(operatorCaller(), 'restore_organization', target)).toMatchObject({ kind: 'refused' });
  expect(await purge(made, id)).toBe(0);
});

test('a removed organization is gone after 30 days, but not while a mailbox is under legal hold', async () => {
  await using made = await testWorld();
  const { ask, id, target, slug } = await ownedOrganization(made.world);
  await ask(operatorCaller(), 'remove_organization', { ...target, confirm: slug });
  const account = (await made.world.store.read(accountByKey, { tenant: id, key: 'me@mistaken.test' }))?.id ?? 0;
  await made.world.store.write(setLegalHold, { tenant: id, account, reason: 'lawsuit', by: 'operator' });
  made.store.clock.now += 30 * 24 * 3600_000;
  expect(await purge(made, id)).toBe(1);
  await made.world.store.write(setLegalHold, { tenant: id, account, reason: null, by: 'operator' });
  expect(await purge(made, id)).toBe(0);
  expect(await ask(operatorCaller(), 'restore_organization', target)).toMatchObject({ kind: 'refused' });
  const [last] = await made.world.store.read(listAudit, { organization: id, before: null, limit: 1 });
  expect(last).toMatchObject({ operation: 'remove_organization', actor: 'mailstead', outcome: 'removed' });
});
