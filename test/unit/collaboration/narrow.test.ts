import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { rowId } from '../../../src/core/ids.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { findToken } from '../../../src/tokens/commands.ts';
import { authenticateToken } from '../../../src/tokens/authenticate.ts';
import { purgeNarrowTokens, MAX_NARROW_TOKENS } from '../../../src/tokens/narrow-commands.ts';
import { sampleOf } from '../../support/operation-samples.ts';
import { putMail } from '../../support/put-mail.ts';
import { callerOf, type Tenants, twoTenants } from '../../support/tenants.ts';

type Json = Record<string, unknown>;

/** As a person's role does. */
const loseSend = command('test-lose-send', async (tx, id: number): Promise<void> => {
  await tx.run(`UPDATE token SET actions = 'read' WHERE id = ?`, id);
});

let tenants: Tenants;
let mailbox: string;
let address: string;
let parent: Caller;
let inside: { id: string; threadId: string };
let outside: { id: string; threadId: string };

const put = async (subject: string, from: string): Promise<{ id: string; threadId: string }> => {
  const account = rowId('mailbox', mailbox) ?? 0;
  const text = `From: ${from}\nTo: <${address}>\nCc: <boss@shop.example>\nMessage-ID: <${subject}@x>\nSubject: ${subject}\n\nhello\n`;
  const id = await putMail(tenants.world.store, { account, receivedAt: tenants.clock.now }, text);
  const { messages } = await tenants.do('list_messages', { mailbox });
  const found = (messages as { id: string; threadId: string }[]).find((one) => one.id === id);
  return { id, threadId: found?.threadId ?? '' };
};

beforeAll(async () => {
  tenants = await twoTenants({}, [loseSend]);
  ({ mailboxId: mailbox, address } = tenants.a.main);
  parent = await tenants.caller({ name: 'parent', actions: ['read', 'send'] });
  inside = await put('inside', 'Ann <ANN+x@shop.example>');
  outside = await put('outside', 'eve@evil.example');
});
afterAll(() => tenants[Symbol.asyncDispose]());

const made = (args: object, by: Caller): Promise<Json> =>
  tenants.do('create_narrow_token', { mailbox, name: 'helper', ...args }, by);
const narrowed = async (args: object = {}, by = parent): Promise<Caller> =>
  callerOf(tenants.world, String((await made(args, by))['secret']));
const code = async (name: string, args: object, caller: Caller): Promise<unknown> => {
  const said = await tenants.try(name, args, caller);
  return said.kind === 'refused' ? said.refusal.error : 'done';
};
let n = 0;
const sending = (to: string): object => ({ from: address, to, subject: `s${++n}`, text: 'x' });

describe('one conversation', () => {
  test('it reads that, and to it nothing else is there', async () => {
    const helper = await narrowed({ threadId: inside.threadId });
    expect(await code('get_message', { messageId: inside.id }, helper)).toBe('done');
    expect(await code('get_thread', { threadId: inside.threadId }, helper)).toBe('done');
    expect(await code('claim_message', { messageId: inside.id, action: 'release' }, helper)).toBe('done');
    const other = await tenants.try('get_message', { messageId: outside.id }, helper);
    const nothing = await tenants.try('get_message', { messageId: 'mzzz' }, helper);
    const plain = (said: typeof other) => ({ ...(said.kind === 'refused' && said.refusal), requestId: '' });
    expect(plain(other)).toEqual(plain(nothing));
    expect(await code('get_thread', { threadId: outside.threadId }, helper)).toBe('not_found');
    expect(await code('get_attachment', { attachmentId: `${outside.id}-1` }, helper)).toBe('not_found');
    expect(await code('resolve_link', { messageId: outside.id, handle: 'link:1' }, helper)).toBe('not_found');
    for (const named of [{ messageId: outside.id }, { threadId: outside.threadId }]) {
      expect(await code('claim_message', named, helper)).toBe('not_found');
    }
  });

  test('every tool that has not thought of conversations is shut', async () => {
    const helper = await narrowed({ threadId: inside.threadId });
    const open = CATALOGUE.filter(
      ({ reach, action }) => reach === 'thread' || action === 'identity' || action === 'anonymous',
    );
    for (const one of CATALOGUE.filter((tool) => !open.includes(tool))) {
      const full = { ...helper, actions: tenants.a.caller.actions };
      expect(await code(one.name, sampleOf(one, tenants.a.main), full), one.name).toBe('out_of_scope');
    }
    expect(open.length).toBeLessThan(20);
  });

  test('whoami says what it is for', async () => {
    const helper = await narrowed({ threadId: inside.threadId, sends: 2 });
    const recipients = ['ann+x@shop.example', address, 'boss@shop.example'];
    expect(await tenants.do('whoami', {}, helper)).toMatchObject({
      principal: { mailboxIds: [mailbox], narrow: { threadId: inside.threadId, recipients, sends: 2 } },
    });
  });
});

describe('an answer of a helper', () => {
  test('goes into its conversation, to who takes part in it, with nothing of others', async () => {
    const helper = await narrowed({ threadId: inside.threadId });
    const answer = (args: object) => code('reply_to_email', { messageId: inside.id, text: `a${++n}`, ...args }, helper);
    expect(await answer({ replyAll: true })).toBe('done');
    expect(await answer({ cc: 'eve@evil.example' })).toBe('recipient_blocked');
    expect(await answer({ attachments: [{ attachmentId: outside.id }] })).toBe('not_found');
    expect(await answer({ attachments: [{ attachmentId: inside.id }] })).toBe('done');
    expect(await answer({ messageId: outside.id })).toBe('not_found');
    expect(await code('send_email', sending('boss@shop.example'), helper)).toBe('out_of_scope');
  });

  test('is stopped while another agent has the conversation, and not by the claim of who made it', async () => {
    const { id, threadId } = await put('claimed', 'ann@shop.example');
    const helper = await narrowed({ threadId });
    const other = await tenants.caller({ name: 'other', actions: ['read', 'send'] });
    const answer = () => code('reply_to_email', { messageId: id, text: `a${++n}` }, helper);
    await tenants.do('claim_message', { mailbox, messageId: id }, other);
    expect(await answer()).toBe('conflict');
    await tenants.do('claim_message', { mailbox, messageId: id, action: 'release' }, other);
    await tenants.do('claim_message', { mailbox, messageId: id }, parent);
    expect(await answer()).toBe('done');
  });
});

describe('sends', () => {
  test('so many as it was made for, and those of its own helpers count', async () => {
    const helper = await narrowed({ sends: 3 });
    const second = await narrowed({ sends: 2 }, helper);
    expect(await code('send_email', sending('a@else.example'), helper)).toBe('done');
    expect(await code('send_email', sending('a@else.example'), second)).toBe('done');
    expect(await code('send_email', { ...sending('a@else.example'), dryRun: true }, second)).toBe('done');
    expect(await code('send_email', sending('a@else.example'), helper)).toBe('done');
    expect(await code('send_email', sending('a@else.example'), helper)).toBe('budget_exceeded');
    expect(await code('send_email', sending('a@else.example'), second)).toBe('budget_exceeded');
  });

  test('two at once are not one more', async () => {
    const helper = await narrowed({ sends: 1 });
    const both = await Promise.all([1, 2, 3].map(() => code('send_email', sending('a@else.example'), helper)));
    expect(both.map(String).toSorted()).toEqual(['budget_exceeded', 'budget_exceeded', 'done']);
  });

  test('none at all', async () => {
    expect(await code('send_email', sending('a@else.example'), await narrowed({ sends: 0 }))).toBe('budget_exceeded');
    expect(await code('send_email', sending('a@else.example'), await narrowed({ actions: ['mail_read'] }))).toBe(
      'action_not_allowed',
    );
  });
});

describe('the policy of what it is from', () => {
  const person = () => operatorCaller(rowId('organization', tenants.a.main.organizationId));
  const policy = async (rules: object): Promise<string> =>
    String((await tenants.do('save_agent_policy', { name: `p${++n}`, ...rules }, person()))['policyId']);

  test('has one budget for all of them together', async () => {
    const agentPolicyId = await policy({ budgets: { messagesPerDay: 4 } });
    const top = await tenants.caller({ name: 'top', actions: ['read', 'send'], agentPolicyId }, person());
    const helper = await narrowed({}, top);
    const below = await narrowed({}, helper);
    const sibling = await narrowed({}, top);
    for (const one of [top, helper, below, sibling]) {
      expect(await code('send_email', sending('a@else.example'), one)).toBe('done');
    }
    for (const one of [top, helper, below, sibling, await narrowed({}, top)]) {
      expect(await code('send_email', sending('a@else.example'), one)).toBe('budget_exceeded');
    }
    const other = await tenants.caller({ name: 'other', actions: ['read', 'send'], agentPolicyId }, person());
    expect(await code('send_email', sending('a@else.example'), other)).toBe('done');
  });

  test('holds from the moment on at which a person attaches it, at every remove, and is reported', async () => {
    const top = await tenants.caller({ name: 'top', actions: ['read', 'send', 'manage'] }, person());
    const below = await narrowed({}, await narrowed({}, top));
    const policyId = await policy({ sends: 'allowed', allow: ['a@else.example'], budgets: { messagesPerDay: 2 } });
    await tenants.do('attach_agent_policy', { tokenId: top.actor, policyId }, person());
    expect(await code('send_email', sending('b@else.example'), below)).toBe('recipient_blocked');
    expect(await code('send_email', sending('a@else.example'), below)).toBe('done');
    expect(await code('send_email', sending('a@else.example'), top)).toBe('done');
    expect(await code('send_email', sending('a@else.example'), below)).toBe('budget_exceeded');
    expect(await tenants.do('whoami', {}, below)).toMatchObject({ policy: { sends: 'allowed' } });
    for (const [args, by] of [
      [{ tokenId: below.actor }, parent],
      [{ mailboxId: mailbox }, top],
    ] as const) {
      expect(await tenants.do('get_agent_policy', args, by)).toMatchObject({ governed: true });
    }
  });
});

describe('never wider than what it is from', () => {
  test('when that loses an action afterwards, as a person who authorized it loses a role', async () => {
    const top = await tenants.caller({ name: 'top', actions: ['read', 'send'] });
    const id = (await narrowed({}, top)).token?.id ?? 0;
    const actions = async () => (await tenants.world.store.read(findToken, { id }))?.actions;
    expect(await actions()).toEqual(['mail_read', 'send']);
    await tenants.world.store.write(loseSend, top.token?.id ?? 0);
    expect(await actions()).toEqual(['mail_read']);
  });

  test('in no way', async () => {
    const own = await narrowed({ threadId: inside.threadId, sends: 1, expiresAt: '2026-01-01T01:00:00Z' });
    const below = (await made({ sends: 900, expiresAt: '2026-01-02T00:00:00Z' }, own))['token'] as Json;
    expect(below).toMatchObject({
      parentId: own.actor,
      actions: ['mail_read', 'send'],
      mailboxIds: [mailbox],
      expiresAt: '2026-01-01T01:00:00.000Z',
      narrow: { threadId: inside.threadId, sends: 1, recipients: own.token?.narrow?.recipients },
    });
    expect(await code('create_narrow_token', { name: 'x', threadId: outside.threadId }, own)).toBe('not_found');
    expect(await code('create_narrow_token', { name: 'x', mailbox: tenants.a.side.mailboxId }, own)).toBe(
      'out_of_scope',
    );
    const reader = await tenants.caller({ name: 'reader', actions: ['mail_read'] });
    expect(await code('create_narrow_token', { name: 'x', mailbox, actions: ['send'] }, reader)).toBe(
      'action_not_allowed',
    );
    expect((await narrowed({}, reader)).actions).toEqual(new Set(['mail_read']));
    expect(await code('create_agent_token', { name: 'x', actions: ['read'] }, await narrowed())).toBe(
      'action_not_allowed',
    );
  });

  test('who writes into the conversation later is nobody it writes to', async () => {
    const { threadId } = await put('late', 'ann@shop.example');
    const helper = await narrowed({ threadId });
    const account = rowId('mailbox', mailbox) ?? 0;
    const more = `From: eve@evil.example\nTo: <${address}>\nReferences: <late@x>\nSubject: Re: late\n\nme too\n`;
    await putMail(tenants.world.store, { account, receivedAt: tenants.clock.now }, more);
    const { thread } = await tenants.do('get_thread', { mailbox, threadId });
    expect(thread).toMatchObject({ messageCount: 2 });
    expect(helper.token?.narrow?.recipients).not.toContain('eve@evil.example');
    const below = await narrowed({ threadId }, helper);
    expect(below.token?.narrow?.recipients).toEqual(helper.token?.narrow?.recipients);
    expect(await narrowed({ threadId }).then((one) => one.token?.narrow?.recipients)).toContain('eve@evil.example');
  });

  test('its conversation is one of its mailbox, and of nobody else', async () => {
    expect(await code('create_narrow_token', { mailbox, name: 'x', threadId: 'tzzz' }, parent)).toBe('not_found');
    expect(await code('create_narrow_token', { mailbox, name: 'x' }, tenants.b.caller)).toBe('not_found');
    expect(await code('create_narrow_token', { mailbox, name: 'x', participantsOnly: true }, parent)).toBe(
      'invalid_arguments',
    );
  });
});

describe('it ends', () => {
  const holds = async (secret: unknown, ip = '127.0.0.1'): Promise<boolean> =>
    (await authenticateToken(tenants.world, `Bearer ${String(secret)}`, 'mcp', ip)).kind === 'caller';

  test('with the one that it is from, all the way down', async () => {
    const top = await tenants.caller({ name: 'top', actions: ['read'] });
    const first = await made({}, top);
    const second = await made({}, await callerOf(tenants.world, String(first['secret'])));
    expect(await holds(second['secret'])).toBe(true);
    await tenants.do('revoke_agent_token', { tokenId: top.actor });
    expect(await holds(first['secret'])).toBe(false);
    expect(await holds(second['secret'])).toBe(false);
    expect(await code('create_narrow_token', { mailbox, name: 'late' }, top)).toBe('unauthorized');
    const { tokens } = (await tenants.do('list_agent_tokens', { limit: 100 })) as { tokens: Json[] };
    expect(tokens.filter(({ parentId }) => parentId === top.actor)).toMatchObject([{ revoked: true, name: 'helper' }]);
  });

  test('at once for whoever carries it to another network, and with the session that it was made in', async () => {
    const { secret } = await made({}, { ...parent, ip: '2001:db8:1:2::7' });
    expect(await holds(secret, '2001:db8:1:2::ffff')).toBe(true);
    for (const ip of ['2001:db8:1:3::7', '203.0.113.9', '127.0.0.1', '']) expect(await holds(secret, ip)).toBe(false);
    const session = { shown: '', expiresAt: tenants.clock.now + 60_000 };
    const { token } = await made({}, { ...parent, session });
    expect(token).toMatchObject({ expiresAt: new Date(session.expiresAt).toISOString() });
  });

  test('after an hour at most, and is forgotten a month later with what it counted', async () => {
    const helper = await narrowed({ sends: 5 });
    await tenants.do('send_email', sending('a@else.example'), helper);
    const below = await narrowed({}, helper);
    const later = new Date(tenants.clock.now + 29 * 86_400_000).toISOString();
    const { secret, token } = await made({ expiresAt: later }, parent);
    expect((token as Json)['expiresAt']).toBe(new Date(tenants.clock.now + 3_600_000).toISOString());
    tenants.clock.now += 3_600_000;
    expect(await holds(secret)).toBe(false);
    tenants.clock.now += 31 * 86_400_000;
    await tenants.world.store.write(purgeNarrowTokens, undefined);
    const { tokens } = (await tenants.do('list_agent_tokens', { limit: 100 })) as { tokens: Json[] };
    const ids = tokens.map(({ id }) => id);
    expect(ids).toContain(parent.actor);
    expect(ids).not.toContain(helper.actor);
    expect(ids).not.toContain(below.actor);
  });

  test('a token has a hundred that hold, and four below each other', async () => {
    const busy = await tenants.caller({ name: 'busy', actions: ['read'] });
    for (let i = 0; i < MAX_NARROW_TOKENS; i++) await made({}, busy);
    expect(await code('create_narrow_token', { mailbox, name: 'x' }, busy)).toBe('conflict');
    let deep = parent;
    for (let i = 0; i < 4; i++) deep = await narrowed({}, deep);
    expect(await code('create_narrow_token', { mailbox, name: 'x' }, deep)).toBe('conflict');
  });
});
