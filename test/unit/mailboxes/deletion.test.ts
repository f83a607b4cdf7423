import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ScheduledMail } from '../../../mail/jobs/scheduled-mail.ts';
import { quiet } from '../../../mail/log.ts';
import { purgeRemovedAccount, removedAccounts } from '../../../mail/store/account/account-removal.ts';
import { route } from '../../../mail/delivery/route.ts';
import { parseAddress } from '../../../mail/message/address.ts';
import { findLogin } from '../../../mail/store/account/credential.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { rowId } from '../../../src/core/ids.ts';
import { purgeDeletedMailboxes } from '../../../src/mailboxes/deletion-commands.ts';
import { organizationUse } from '../../../src/organizations/commands.ts';
import { dueWebhooks } from '../../../src/webhooks/queries.ts';
import { deliverMail } from '../../support/deliver-mail.ts';
import { authenticateToken } from '../../../src/tokens/authenticate.ts';
import { rowsOf } from '../../support/rows.ts';
import { type Tenants, type Things, twoTenants } from '../../support/tenants.ts';

const DAY_MS = 86_400_000;

let tenants: Tenants;
let main: Things;
let person: Caller;
let account: number;
beforeEach(async () => {
  tenants = await twoTenants();
  ({ main } = tenants.a);
  person = operatorCaller(rowId('organization', main.organizationId));
  account = rowId('mailbox', main.mailboxId) ?? 0;
});
afterEach(() => tenants[Symbol.asyncDispose]());

const routeOf = async (text: string): Promise<string> =>
  (await route(tenants.world.store, parseAddress(text) ?? expect.fail(text))).kind;
const login = () => tenants.world.store.read(findLogin, { key: main.address });
const remove = (more: object = {}, by: Caller = tenants.a.caller) =>
  tenants.do('delete_email', { mailboxId: main.mailboxId, confirm: main.address, ...more }, by);
const restore = (by: Caller = tenants.a.caller) => tenants.do('restore_email', { mailboxId: main.mailboxId }, by);
const listed = async (name: string, list: string): Promise<string[]> =>
  ((await tenants.do(name))[list] as { id: string }[]).map(({ id }) => id);

/** Everything in its folders, as mail programs see it. */
const contents = query('test-contents', (rx, input: { account: number }) =>
  rx.all<Record<string, string | number>>(
    `SELECT m.name, m.uidvalidity, m.uidnext, e.uid, e.flags, e.kw, e.email_id, e.modseq FROM mailbox m
     LEFT JOIN entry e ON e.mailbox_id = m.id WHERE m.account_id = ? ORDER BY m.id, e.uid`,
    input.account,
  ),
);

async function purgeNow(): Promise<void> {
  const { store } = tenants.world;
  while (await store.writeSlice(purgeDeletedMailboxes, undefined));
  for (const one of await store.read(removedAccounts, undefined)) {
    while ((await store.writeSlice(purgeRemovedAccount, { account: one })).more);
  }
}

/** Tables that record the past. */
const HISTORY = ['journal', 'submission', 'webhook_event', 'sent_email'];

async function expectNoRows(): Promise<void> {
  for (const [table, rows] of await rowsOf(tenants.world.store)) {
    if (HISTORY.includes(table)) continue;
    expect(
      rows.filter((row) => row.includes(`"account_id":${account},`)),
      table,
    ).toEqual([]);
  }
  const own = query('test-account', (rx) => rx.all('SELECT id FROM account WHERE id = ?', account));
  expect(await tenants.world.store.read(own, undefined)).toEqual([]);
}

describe('a deleted mailbox', () => {
  test('takes no mail, lets nobody in and is in no list but that of the deleted ones', async () => {
    const { serviceId, aliasId, domain } = main;
    const one = await tenants.caller({ actions: ['read', 'mail_read'], mailboxIds: [main.mailboxId] });
    const use = () =>
      tenants.world.store.read(organizationUse, { organization: rowId('organization', main.organizationId) ?? 0 });
    const { mailboxes } = await use();
    const done = await remove();
    expect(done).toMatchObject({
      deleted: true,
      detachedServiceIds: [serviceId],
      restorableUntil: new Date(tenants.clock.now + 30 * DAY_MS).toISOString(),
      revokedTokens: 1,
      revokedAppPasswords: 1,
    });
    expect(await routeOf(main.address)).toBe('deleted');
    expect(await routeOf(`anna+tag@${domain}`)).toBe('deleted');
    expect(await routeOf(`alpha-main-alias@${domain}`)).toBe('deleted');
    expect(await login()).toBeUndefined();
    expect((await use()).mailboxes).toBe(mailboxes - 1);
    expect(await listed('list_emails', 'mailboxes')).not.toContain(main.mailboxId);
    expect(await listed('list_aliases', 'aliases')).not.toContain(aliasId);
    expect(await listed('list_deleted_emails', 'deletedMailboxes')).toContain(main.mailboxId);
    for (const name of ['list_messages', 'search_messages', 'list_labels']) {
      expect(await tenants.try(name, { mailbox: main.mailboxId, query: 'x' }), name).toMatchObject({ kind: 'refused' });
    }
    expect(await tenants.try('list_messages', {}, one)).toMatchObject({ kind: 'refused' });
    const { env } = (await tenants.do('get_service_environment', { serviceId })) as { env: object };
    expect(Object.keys(env).filter((name) => name.startsWith('EMAIL_'))).toEqual([]);
    expect(await tenants.try('delete_email', { mailboxId: main.mailboxId })).toMatchObject({
      refusal: { error: 'not_found' },
    });
  });

  test('rejects mail also where a catch-all takes every other address', async () => {
    const { domainId, domain } = main;
    const { mailbox } = await tenants.do('provision_email', { domainId, localPart: 'rest' });
    await tenants.do('create_alias', { mailboxIds: [(mailbox as { id: string }).id], localPart: '*', domainId });
    await remove();
    expect(await routeOf(main.address)).toBe('deleted');
    expect(await routeOf(`anybody@${domain}`)).toBe('here');
    tenants.clock.now += 31 * DAY_MS;
    await purgeNow();
    expect(await routeOf(main.address)).toBe('here');
  });

  test('comes back with mail, folders, flags, aliases, forwards, webhook, services and a chosen password', async () => {
    const { world } = tenants;
    await tenants.do(
      'rotate_email_credentials',
      { mailboxId: main.mailboxId, password: 'correct-horse-battery' },
      person,
    );
    const before = await world.store.read(contents, { account });
    const keys = (await login())?.credentials.map((one) => Buffer.from(one.storedKey).toString('hex'));
    const forwards = await tenants.do('list_email_forwarders', {});
    const aliases = await tenants.do('list_aliases', { mailboxId: main.mailboxId });
    const webhook = await tenants.do('get_email_inbound_webhook', { mailboxId: main.mailboxId });
    expect(before.length).toBeGreaterThan(6);
    await remove();
    expect(await restore()).toMatchObject({
      mailbox: { id: main.mailboxId, attachedServiceIds: [main.serviceId] },
      password: 'kept',
      attachedServiceIds: [main.serviceId],
      notRestored: [],
    });
    expect(await world.store.read(contents, { account })).toEqual(before);
    const back = (await login())?.credentials.map((one) => Buffer.from(one.storedKey).toString('hex')) ?? [];
    expect(back).toHaveLength(1);
    expect(keys).toContain(back[0]);
    expect(await tenants.do('list_email_forwarders', {})).toEqual(forwards);
    expect(await tenants.do('list_aliases', { mailboxId: main.mailboxId })).toEqual(aliases);
    expect(await tenants.do('get_email_inbound_webhook', { mailboxId: main.mailboxId })).toEqual(webhook);
    expect(await routeOf(main.address)).toBe('here');
    const { env } = (await tenants.do('get_service_environment', { serviceId: main.serviceId })) as { env: object };
    expect(env).toMatchObject({ EMAIL_ADDRESS: main.address, EMAIL_SMTP_PASSWORD: 'correct-horse-battery' });
    expect(await listed('list_deleted_emails', 'deletedMailboxes')).not.toContain(main.mailboxId);
  });

  test('comes back with another generated password; app passwords and tokens stay revoked', async () => {
    const { body, secret } = await twoTokens();
    const environment = async () =>
      (await tenants.do('get_service_environment', { serviceId: main.serviceId }))['env'] as Record<string, string>;
    const old = (await environment())['EMAIL_SMTP_PASSWORD'];
    await remove();
    const done = await restore();
    expect(done).toMatchObject({ password: 'replaced' });
    expect(String(done['nextSteps'])).toMatch(/generated password was replaced.*tokens|Tokens/is);
    const now = (await environment())['EMAIL_SMTP_PASSWORD'];
    expect(now).toMatch(/./);
    expect(now).not.toBe(old);
    expect((await login())?.credentials).toHaveLength(1);
    expect(await tenants.do('list_app_passwords', { mailboxId: main.mailboxId })).toEqual({ appPasswords: [] });
    expect((await authenticateToken(tenants.world, `Bearer ${secret}`, 'mcp', '127.0.0.1')).kind).not.toBe('caller');
    // A token of two mailboxes goes on with the other one.
    const still = await authenticateToken(tenants.world, `Bearer ${body}`, 'mcp', '127.0.0.1');
    expect(still).toMatchObject({ caller: { mailboxes: [rowId('mailbox', tenants.a.side.mailboxId)] } });
  });

  /** Tokens of this mailbox alone, and of this and another one. */
  async function twoTokens(): Promise<{ secret: string; body: string }> {
    const make = async (...mailboxIds: string[]): Promise<string> =>
      String((await tenants.do('create_agent_token', { name: 'limited', actions: ['read'], mailboxIds }))['secret']);
    return { secret: await make(main.mailboxId), body: await make(main.mailboxId, tenants.a.side.mailboxId) };
  }

  test('stays under its agent policy when it comes back', async () => {
    await tenants.do('attach_agent_policy', { mailboxId: main.mailboxId, policyId: main.policyId }, person);
    await remove({}, person);
    await restore(person);
    const all = (await tenants.do('list_emails'))['mailboxes'] as { id: string; agentPolicyId: string }[];
    expect(all.find((one) => one.id === main.mailboxId)).toMatchObject({ agentPolicyId: main.policyId });
  });

  test('is not brought back by unfreezing its organization', async () => {
    await remove();
    const operator = operatorCaller();
    const which = { targetOrganizationId: main.organizationId };
    await tenants.do('freeze_organization', which, operator);
    await tenants.do('unfreeze_organization', which, operator);
    expect(await login()).toBeUndefined();
    expect(await routeOf(main.address)).toBe('deleted');
  });

  test('does not send what is scheduled: it is held when its time comes, also after it is restored', async () => {
    const { store } = tenants.world;
    const job = new ScheduledMail({
      store,
      hostname: 'mail.box.test',
      clock: tenants.world.clock,
      log: quiet,
      forwardKey: Buffer.alloc(32),
      hold: null,
      traceId: () => 'report',
      queued: () => undefined,
    });
    const held = async (): Promise<string[]> =>
      (await rowsOf(store)).get('scheduled')?.filter((row) => row.includes(`"account_id":${account},`)) ?? [];
    await remove();
    tenants.clock.now += 2 * DAY_MS;
    await job.run();
    expect(await held()).toHaveLength(2);
    for (const row of await held()) expect(row).toContain('is not allowed as sender any more');
    await restore();
    await job.run();
    expect(await held()).toHaveLength(2);
  });

  test('keeps the events of its webhook, and reports them when it is restored', async () => {
    const { store } = tenants.world;
    const url = 'https://hooks.example.net/alpha-main';
    const due = async () =>
      (await store.read(dueWebhooks, { now: tenants.clock.now, not: [], limit: 10 })).filter((one) => one.url === url);
    await deliverMail(store, { account, to: main.address }, 'From: x@remote.example\nSubject: x\n\nx\n');
    expect(await due()).toHaveLength(1);
    await remove();
    expect(await due()).toEqual([]);
    await restore();
    expect(await due()).toHaveLength(1);
  });

  test('takes no message that was accepted for it before and is committed after', async () => {
    await remove();
    const late = deliverMail(tenants.world.store, { account, to: main.address }, 'Subject: x\n\nx\n');
    await expect(late).rejects.toThrow(/was deleted/);
  });

  test('has its waiting mail canceled only when it is purged', async () => {
    const waiting = async (): Promise<number> =>
      (await rowsOf(tenants.world.store)).get('scheduled')?.filter((row) => row.includes(`"account_id":${account},`))
        .length ?? 0;
    expect(await waiting()).toBe(2);
    await remove();
    expect(await waiting()).toBe(2);
    await remove({ permanently: true }, person);
    expect(await waiting()).toBe(0);
  });
});

describe('after 30 days', () => {
  test('nothing is left, with an audit row; a day before everything is', async () => {
    await remove();
    tenants.clock.now += 29 * DAY_MS;
    await purgeNow();
    expect(await listed('list_deleted_emails', 'deletedMailboxes')).toContain(main.mailboxId);
    tenants.clock.now += 2 * DAY_MS;
    await purgeNow();
    expect(await tenants.try('restore_email', { mailboxId: main.mailboxId })).toMatchObject({
      refusal: { error: 'not_found' },
    });
    expect(await routeOf(main.address)).toBe('unknown');
    await expectNoRows();
    const { events } = (await tenants.do('list_audit_events', { limit: 100 })) as { events: Record<string, unknown>[] };
    expect(events).toContainEqual(
      expect.objectContaining({
        operation: 'delete_email',
        target: main.mailboxId,
        actor: 'mailstead',
        outcome: 'purged',
      }),
    );
  });

  test('a purge that is cut off after any slice is finished by the next run', async () => {
    const { store } = tenants.world;
    await remove();
    tenants.clock.now += 31 * DAY_MS;
    await store.writeSlice(purgeDeletedMailboxes, undefined);
    // Each commit may be the last one before a crash: nothing but the rows says where to go on.
    for (let slices = 0; (await store.read(removedAccounts, undefined)).includes(account); slices++) {
      expect(slices).toBeLessThan(50);
      await store.writeSlice(purgeRemovedAccount, { account });
      await store.writeSlice(purgeDeletedMailboxes, undefined);
      expect(await tenants.try('restore_email', { mailboxId: main.mailboxId })).toMatchObject({ kind: 'refused' });
    }
    await expectNoRows();
  });
});

describe('the address of a deleted mailbox', () => {
  test('can be used again by its organization; the old mailbox comes back when it is free', async () => {
    await remove();
    const { mailbox } = await tenants.do('provision_email', { domainId: main.domainId, localPart: 'anna' });
    expect(await routeOf(main.address)).toBe('here');
    expect(await tenants.try('restore_email', { mailboxId: main.mailboxId })).toMatchObject({
      refusal: { error: 'conflict', resource: 'mailbox' },
    });
    await tenants.do('delete_email', { mailboxId: (mailbox as { id: string }).id });
    expect(await restore()).toMatchObject({ mailbox: { id: main.mailboxId } });
  });

  test('waits for its domain, which may be removed and added again', async () => {
    const { id: domainId } = (await tenants.do('add_email_domain', { domain: 'brief.test' }))['domain'] as {
      id: string;
    };
    const { id: mailboxId } = (await tenants.do('provision_email', { domainId, localPart: 'me' }))['mailbox'] as {
      id: string;
    };
    await tenants.do('delete_email', { mailboxId });
    expect(await tenants.do('remove_email_domain', { domainId })).toMatchObject({ removed: true });
    expect(await tenants.try('restore_email', { mailboxId })).toMatchObject({
      refusal: { error: 'conflict', resource: 'domain' },
    });
    const again = (await tenants.do('add_email_domain', { domain: 'brief.test' }))['domain'] as { id: string };
    expect(await tenants.do('restore_email', { mailboxId })).toMatchObject({ mailbox: { domainId: again.id } });
  });

  test('is a proposal for a governed token, as it gets mail meant for somebody else', async () => {
    const governed = await governedCaller();
    await remove();
    const { domainId } = main;
    expect(await tenants.do('provision_email', { domainId, localPart: 'Anna' }, governed)).toMatchObject({
      status: 'pending_approval',
    });
    const alias = { mailboxIds: [tenants.a.side.mailboxId], domainId, localPart: 'anna' };
    expect(await tenants.do('create_alias', alias, governed)).toMatchObject({ status: 'pending_approval' });
    expect(await tenants.do('provision_email', { domainId, localPart: 'free' }, governed)).toHaveProperty('mailbox');
  });
});

async function governedCaller(): Promise<Caller> {
  const policy = await tenants.do('save_agent_policy', { name: 'Trusted', preset: 'trusted-internal' }, person);
  return tenants.caller({ actions: ['read', 'manage', 'deploy'], agentPolicyId: policy['policyId'] }, person);
}

describe('who may', () => {
  test('a governed token deletes at once, and only proposes to restore and to delete permanently', async () => {
    const governed = await governedCaller();
    expect(await remove({}, governed)).toMatchObject({ deleted: true });
    expect(await restore(governed)).toMatchObject({ status: 'pending_approval' });
    const { serviceId } = main;
    expect(await tenants.do('delete_service', { serviceId }, governed)).toMatchObject({ deleted: true });
    expect(await tenants.do('restore_service', { serviceId }, governed)).toMatchObject({ status: 'pending_approval' });
    for (const by of [governed, tenants.a.caller]) {
      expect(await remove({ permanently: true }, by)).toMatchObject({ status: 'pending_approval' });
      expect(await tenants.do('delete_service', { serviceId, permanently: true }, by)).toMatchObject({
        status: 'pending_approval',
      });
    }
    expect(await listed('list_deleted_emails', 'deletedMailboxes')).toContain(main.mailboxId);
    expect(await listed('list_deleted_services', 'deletedServices')).toContain(serviceId);
  });

  test('a person who accepts the proposal of a token purges what it named', async () => {
    const { proposalId } = await remove({ permanently: true });
    const decided = await tenants.do('decide_proposal', { proposalId, accept: true }, person);
    expect(decided).toMatchObject({ state: 'accepted', outcome: 'done' });
    expect(await listed('list_emails', 'mailboxes')).not.toContain(main.mailboxId);
    expect(await listed('list_deleted_emails', 'deletedMailboxes')).not.toContain(main.mailboxId);
  });

  test('a person deletes permanently, a mailbox in use or one that was deleted', async () => {
    expect(await remove({ permanently: true }, person)).toMatchObject({ deleted: true, restorableUntil: null });
    expect(await routeOf(main.address)).toBe('unknown');
    const { deletedMailboxId: mailboxId } = main;
    expect(await tenants.do('delete_email', { mailboxId, permanently: true }, person)).toMatchObject({
      deleted: true,
      restorableUntil: null,
    });
    for (const one of [main.mailboxId, mailboxId]) {
      expect(await tenants.try('restore_email', { mailboxId: one })).toMatchObject({ refusal: { error: 'not_found' } });
    }
    await purgeNow();
    await expectNoRows();
  });

  test('a stranger neither sees, restores, purges nor takes it', async () => {
    await remove();
    const stranger = tenants.b.caller;
    const theirs = operatorCaller(rowId('organization', tenants.b.main.organizationId));
    const before = await rowsOf(tenants.world.store);
    for (const by of [stranger, theirs]) {
      expect(JSON.stringify(await tenants.do('list_deleted_emails', {}, by))).not.toMatch(/alpha|anna@alpha/);
      for (const which of [{ mailboxId: main.mailboxId }, { address: main.address }]) {
        for (const [name, more] of [
          ['restore_email', {}],
          ['delete_email', { permanently: true }],
        ] as const) {
          const said = await tenants.try(name, { ...which, ...more }, by);
          expect(said).toMatchObject({ refusal: { error: 'not_found' } });
        }
      }
    }
    const after = await rowsOf(tenants.world.store);
    for (const table of ['deleted_account', 'deleted_address', 'account'])
      expect(after.get(table)).toEqual(before.get(table));
    const claim = await tenants.do('add_email_domain', { domain: main.domain }, stranger);
    const { id: domainId } = claim['domain'] as { id: string };
    await tenants.do('provision_email', { domainId, localPart: 'anna' }, stranger);
    expect(await routeOf(main.address)).toBe('deleted');
    expect(await restore()).toMatchObject({ mailbox: { id: main.mailboxId } });
  });
});

test('deleted mailboxes are listed in pages, and only those of the project that is named', async () => {
  const ids: unknown[] = [main.deletedMailboxId];
  for (const localPart of ['p1', 'p2', 'p3']) {
    const { mailbox } = await tenants.do('provision_email', { domainId: main.domainId, localPart });
    ids.push((mailbox as { id: string }).id);
    await tenants.do('delete_email', { mailboxId: (mailbox as { id: string }).id });
  }
  const seen: unknown[] = [];
  for (let cursor: unknown; cursor !== null;) {
    const page = { projectId: main.projectId, limit: 2, ...(cursor !== undefined && { cursor }) };
    const { deletedMailboxes, nextCursor } = await tenants.do('list_deleted_emails', page);
    seen.push(...(deletedMailboxes as { id: string }[]).map(({ id }) => id));
    cursor = nextCursor;
  }
  expect(seen).toEqual(ids);
});

describe('a deleted service', () => {
  test('comes back with its revisions and attachments, also if its mailbox was deleted after it', async () => {
    const { serviceId, mailboxId } = main;
    const own = await tenants.caller({ actions: ['read'], serviceId });
    const before = await tenants.do('list_deployments', { serviceId });
    expect(await tenants.do('delete_service', { serviceId })).toMatchObject({ deleted: true, revokedTokens: 1 });
    expect(await listed('list_services', 'services')).not.toContain(serviceId);
    expect(await tenants.try('get_service_environment', { serviceId })).toMatchObject({ kind: 'refused' });
    await remove();
    expect(await tenants.do('restore_service', { serviceId })).toMatchObject({
      service: { id: serviceId, revision: 1 },
      notRestored: [],
    });
    expect(await tenants.do('list_deployments', { serviceId })).toEqual(before);
    expect(await restore()).toMatchObject({ mailbox: { id: mailboxId }, attachedServiceIds: [serviceId] });
    const tokens = (await tenants.do('list_agent_tokens', { limit: 100 }))['tokens'] as {
      id: string;
      revoked: boolean;
    }[];
    expect(tokens.find(({ id }) => id === own.actor)).toMatchObject({ revoked: true });
  });

  test('is attached when the mailbox comes back first', async () => {
    const { serviceId } = main;
    await remove();
    await tenants.do('delete_service', { serviceId });
    expect(await restore()).toMatchObject({ attachedServiceIds: [], notRestored: [] });
    await tenants.do('restore_service', { serviceId });
    const { env } = (await tenants.do('get_service_environment', { serviceId })) as { env: object };
    expect(env).toMatchObject({ EMAIL_ADDRESS: main.address });
  });

  test('of a name that another one has by now is refused, and is purged after 30 days', async () => {
    const { serviceId, projectId } = main;
    await tenants.do('delete_service', { serviceId });
    await tenants.do('create_service', { projectId, name: 'alpha-main service' });
    expect(await tenants.try('restore_service', { serviceId })).toMatchObject({ refusal: { error: 'already_exists' } });
    expect(await tenants.try('restore_service', { serviceId }, tenants.b.caller)).toMatchObject({
      refusal: { error: 'not_found' },
    });
  });
});
