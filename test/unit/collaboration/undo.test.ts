import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rowIn } from '../../../src/core/message-ids.ts';
import { changeEmails } from '../../../mail/store/message/email-change-commands.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import { findMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { rowId } from '../../../src/core/ids.ts';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { putMail } from '../../support/put-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

const webhookSecret = query('test-webhook-secret', async (rx, { account: of }: { account: number }) => {
  const row = await rx.get<{ secret: Uint8Array }>('SELECT secret FROM webhook WHERE account_id = ?', of);
  return row?.secret;
});

const used = command('test-alias-used', (tx, { id }: { id: number }) =>
  tx.run('UPDATE alias SET used = 1 WHERE id = ?', id),
);

let tenants: Tenants;
let mailbox: string;
let account: number;
let agent: Caller;
let trash: number;
let since: string;

beforeAll(async () => {
  tenants = await twoTenants({}, [used]);
  mailbox = tenants.a.main.mailboxId;
  account = rowId('mailbox', mailbox) ?? 0;
  trash = (await tenants.world.store.read(findMailbox, { account, name: 'Trash' }))?.id ?? 0;
});
afterAll(() => tenants[Symbol.asyncDispose]());
beforeEach(async () => {
  tenants.clock.now += 1000;
  since = new Date(tenants.clock.now).toISOString();
  agent = await tenants.caller({ name: 'agent', actions: ['read', 'manage'] });
});

const mail = async (): Promise<number> => {
  const put = { account, receivedAt: tenants.clock.now };
  return rowIn('email', account, await putMail(tenants.world.store, put, 'Subject: x\n\nx\n')) ?? 0;
};
const trashed = async (email: number, by: string | null = agent.actor): Promise<number> => {
  const changes = [{ email, keywords: null, mailboxes: { kind: 'replace', all: [trash] } }] as const;
  await tenants.world.store.write(changeEmails, { account, by, changes, ifState: null });
  return email;
};
const undo = (args: object = {}, caller = agent) => tenants.do('undo_changes', { since, ...args }, caller);
const code = async (args: object, caller: Caller): Promise<unknown> => {
  const said = await tenants.try('undo_changes', { since, ...args }, caller);
  return said.kind === 'refused' ? said.refusal.error : said.kind;
};

describe('whose changes', () => {
  test('a token undoes its own; who made it and the owner too; nobody else', async () => {
    await trashed(await mail());
    const other = await tenants.caller({ name: 'other', actions: ['read', 'manage'] });
    expect(await undo({}, other)).toMatchObject({ undone: 0 });
    expect(await code({ tokenId: agent.actor }, other)).toBe('out_of_scope');
    expect(await code({ tokenId: agent.actor }, tenants.b.caller)).toBe('not_found');
    const operator = operatorCaller(tenants.a.caller.organization);
    expect(await code({}, operator)).toBe('invalid_arguments');
    expect(await code({ tokenId: agent.actor }, { ...other, token: { ...other.token, owner: true } as never })).toBe(
      'done',
    );
    await trashed(await mail());
    expect(await code({ tokenId: agent.actor }, operator)).toBe('done');
    await trashed(await mail());
    expect(await undo({ tokenId: agent.actor }, tenants.a.caller)).toMatchObject({ undone: 1, kept: [] });
    expect(await undo()).toMatchObject({ undone: 0 });
  });

  test('a token of some mailboxes undoes nothing in others, and no rules of the whole', async () => {
    await trashed(await mail());
    const limited = { ...agent, mailboxes: [rowId('mailbox', tenants.a.side.mailboxId) ?? 0] };
    expect(await undo({}, limited)).toMatchObject({ undone: 0, rulesUndone: 0 });
    expect(await undo()).toMatchObject({ undone: 1 });
  });
});

test('more than one call does is gone on with, and what stays says why', async () => {
  const emails: number[] = [];
  for (let i = 0; i < 205; i++) emails.push(await trashed(await mail()));
  const [first = 0] = emails;
  const inbox = (await tenants.world.store.read(findMailbox, { account, name: 'INBOX' }))?.id ?? 0;
  const back = [{ email: first, keywords: null, mailboxes: { kind: 'patch', add: [inbox], remove: [] } }] as const;
  await tenants.world.store.write(changeEmails, { account, changes: back, ifState: null });
  const page = await undo();
  expect(page).toMatchObject({ undone: 199, kept: [{ mailboxId: mailbox, why: 'moved' }] });
  expect(await undo({ cursor: page['nextCursor'] })).toMatchObject({ undone: 5, kept: [], nextCursor: null });
});

describe('rules', () => {
  const rule = (args: object, caller = agent) => tenants.do('add_sender_rule', { mailboxId: mailbox, ...args }, caller);
  const rules = async () =>
    ((await tenants.do('list_sender_rules', { mailboxId: mailbox }))['rules'] as Record<string, unknown>[]).map(
      ({ id, kind, pattern, note }) => ({ id, kind, pattern, note }),
    );

  test('are as they were: added ones go, changed and removed ones come back with their ids', async () => {
    await rule({ kind: 'block', pattern: 'changed.example', note: 'mine' }, tenants.a.caller);
    await rule({ kind: 'block', pattern: 'removed.example' }, tenants.a.caller);
    const before = await rules();
    await rule({ kind: 'allow', pattern: 'added.example' });
    await rule({ kind: 'allow', pattern: 'changed.example' });
    await rule({ kind: 'block', pattern: 'changed.example', note: 'again' });
    await tenants.do('remove_sender_rule', { ruleId: before.at(-1)?.id }, agent);
    expect(await undo()).toMatchObject({ rulesUndone: 4, rulesKept: 0 });
    expect(await rules()).toEqual(before);
    expect(await undo()).toMatchObject({ rulesUndone: 0 });
  });

  test('whose rules wait for a person brings none back by itself', async () => {
    const governed = await tenants.caller({
      name: 'governed',
      actions: ['read', 'manage'],
      agentPolicyId: tenants.a.main.policyId,
    });
    await rule({ kind: 'allow', pattern: 'mine.example' });
    const made = { ...governed, token: { ...governed.token, id: agent.token?.id } } as Caller;
    expect(await undo({}, made)).toMatchObject({ rulesUndone: 0 });
    expect(await undo()).toMatchObject({ rulesUndone: 1 });
  });

  test('a rule that a person changed since stays', async () => {
    await rule({ kind: 'allow', pattern: 'both.example' });
    await rule({ kind: 'block', pattern: 'both.example', note: 'no' }, tenants.a.caller);
    // The owner's word is a token's too, and no change of the agent's.
    expect(await undo()).toMatchObject({ rulesUndone: 0, rulesKept: 1 });
    expect(await rules()).toContainEqual(expect.objectContaining({ pattern: 'both.example', kind: 'block' }));
  });

  test('forwards too', async () => {
    const { address } = tenants.a.main;
    const set = (destinationAddress: string, keepLocalCopy: boolean, caller = agent) =>
      tenants.do('set_email_forwarder', { sourceAddress: address, destinationAddress, keepLocalCopy }, caller);
    const forwards = async () =>
      (
        (await tenants.do('list_email_forwarders', { sourceAddress: address }))['forwarders'] as Record<
          string,
          unknown
        >[]
      )
        .map(({ id, destinationAddress: to, keepLocalCopy: keep }) => `${String(id)} ${String(to)} ${String(keep)}`)
        .toSorted();
    await set('kept@else.example', true, tenants.a.caller);
    await set('gone@else.example', true, tenants.a.caller);
    const before = await forwards();
    await set('spy@evil.example', false);
    await set('kept@else.example', false);
    const gone = { sourceAddress: address, destinationAddress: 'gone@else.example' };
    await tenants.do('remove_email_forwarder', gone, agent);
    expect(await forwards()).not.toEqual(before);
    expect(await undo()).toMatchObject({ rulesUndone: 3, rulesKept: 0 });
    expect(await forwards()).toEqual(before);
  });

  test('a forward that a person set as well is the person’s', async () => {
    const forward = { sourceAddress: tenants.a.main.address, destinationAddress: 'both@else.example' };
    await tenants.do('set_email_forwarder', forward, agent);
    await tenants.do('set_email_forwarder', forward, operatorCaller(tenants.a.caller.organization));
    expect(await undo()).toMatchObject({ rulesUndone: 0, rulesKept: 1 });
    await tenants.do('remove_email_forwarder', forward, tenants.a.caller);
  });
});

describe('webhooks', () => {
  const URL_OF = { mine: 'https://hooks.example.net/mine', spy: 'https://hooks.example.net/spy' };
  const hook = async () => {
    const { webhook } = await tenants.do('get_email_inbound_webhook', { mailboxId: mailbox });
    return (webhook as { url: string } | null)?.url;
  };
  const set = (url: string, caller: Caller) =>
    tenants.do('set_email_inbound_webhook', { mailboxId: mailbox, url }, caller);
  const secretOf = async (): Promise<string> =>
    Buffer.from((await tenants.world.store.read(webhookSecret, { account })) ?? '').toString('hex');
  const ofOrganization = async () =>
    ((await tenants.do('list_webhooks', {}))['webhooks'] as Record<string, unknown>[]).map(
      ({ url, events }) => `${String(url)} ${String(events)}`,
    );

  beforeEach(() => tenants.do('remove_email_inbound_webhook', { mailboxId: mailbox }));

  test('one that an agent set goes; one that it led elsewhere or removed is back, with its secret', async () => {
    await set(URL_OF.spy, agent);
    expect(await undo()).toMatchObject({ rulesUndone: 1, rulesKept: 0 });
    expect(await hook()).toBeUndefined();
    await set(URL_OF.mine, tenants.a.caller);
    const secret = await secretOf();
    await set(URL_OF.spy, agent);
    expect(await secretOf()).not.toBe(secret);
    await tenants.do('remove_email_inbound_webhook', { mailboxId: mailbox }, agent);
    expect(await undo()).toMatchObject({ rulesUndone: 2, rulesKept: 0 });
    expect([await hook(), await secretOf()]).toEqual([URL_OF.mine, secret]);
    expect(await undo()).toMatchObject({ rulesUndone: 0 });
  });

  test('one that a person has set since stays', async () => {
    await set(URL_OF.spy, agent);
    await set(URL_OF.mine, tenants.a.caller);
    expect(await undo()).toMatchObject({ rulesUndone: 0, rulesKept: 1 });
    expect(await hook()).toBe(URL_OF.mine);
  });

  test('those of the organization are as they were, too', async () => {
    const made = await tenants.do('create_webhook', { url: URL_OF.mine, events: ['email.bounced'] });
    const { id: webhookId } = made['webhook'] as { id: string };
    const before = await ofOrganization();
    await tenants.do('update_webhook', { webhookId, url: URL_OF.spy, events: ['email.delivered'] }, agent);
    await tenants.do('create_webhook', { url: URL_OF.spy }, agent);
    await tenants.do('remove_webhook', { webhookId }, agent);
    expect(await undo()).toMatchObject({ rulesUndone: 3, rulesKept: 0 });
    expect((await ofOrganization()).toSorted()).toEqual(before.toSorted());
  });
});

describe('aliases', () => {
  const aliases = async () => (await tenants.do('list_aliases', {}))['aliases'] as Record<string, unknown>[];
  const add = async (localPart: string, caller: Caller): Promise<string> => {
    const { domain } = tenants.a.main;
    const made = await tenants.do('create_alias', { mailboxIds: [mailbox], domain, localPart }, caller);
    return (made['alias'] as { id: string }).id;
  };

  test('one that an agent made goes; one that it led elsewhere or removed is back', async () => {
    const led = await add('led', tenants.a.caller);
    const gone = await add('gone', tenants.a.caller);
    const before = await aliases();
    const away = { mailboxIds: [tenants.a.side.mailboxId], note: 'mine', maxMessages: 3 };
    await tenants.do('update_alias', { aliasId: led, ...away }, agent);
    await tenants.do('remove_alias', { aliasId: gone }, agent);
    await add('fresh', agent);
    expect(await aliases()).not.toEqual(before);
    expect(await undo()).toMatchObject({ rulesUndone: 3, rulesKept: 0 });
    expect(await aliases()).toEqual(before);
    expect(await undo()).toMatchObject({ rulesUndone: 0 });
  });

  test('one that has taken mail stays, and so does what a person changed since', async () => {
    const taking = await add('taking', agent);
    await tenants.world.store.write(used, { id: rowId('alias', taking) ?? 0 });
    const changed = await add('changed', agent);
    await tenants.do('update_alias', { aliasId: changed, note: 'I need this' });
    expect(await undo()).toMatchObject({ rulesUndone: 0, rulesKept: 2 });
    const ids = (await aliases()).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([taking, changed]));
  });
});
