import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dueMessages } from '../../../mail/delivery/scheduled-messages.ts';
import { AGENT_MODES, type AgentMode } from '../../../mail/agents/gate/types.ts';
import { accountByKey } from '../../../mail/store/account/account.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { isHuman } from '../../../mail/store/actor.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { operatorCaller, tokenCaller } from '../../../src/core/caller.ts';
import { perform, type OperationOutcome } from '../../../src/operations/perform.ts';
import { addToken, findToken } from '../../../src/tokens/commands.ts';
import { ALL_ACTIONS } from '../../../src/core/token.ts';
import { putMail } from '../../support/put-mail.ts';
import { SendWorld } from '../../support/send-world.ts';

const credentialNamed = query('test-credential', (rx, { account, name }: { account: number; name: string }) =>
  rx.get<{ id: number }>('SELECT id FROM credential WHERE account_id = ? AND name = ?', account, name),
);
const personal = query('test-personal', (rx, { account, credential }: { account: number; credential: number }) =>
  isHuman(rx, account, { credential }),
);

let world: SendWorld;
beforeEach(async () => {
  world = await SendWorld.open();
});
afterEach(() => world[Symbol.asyncDispose]());

const mint = (createdBy = 'operator', mailboxes: number[] | null = null): Promise<number> =>
  world.world.store.write(addToken, {
    hash: randomBytes(32),
    organization: 1,
    name: 'agent',
    shown: 'mst_abc',
    actions: [...ALL_ACTIONS],
    project: null,
    service: null,
    mailboxes,
    owner: true,
    createdBy,
    expiresAt: null,
  });

async function asToken(id: number, name: string, input: object = {}): Promise<OperationOutcome> {
  const token = await world.world.store.read(findToken, { id });
  const found = findOperation(name);
  if (token === undefined || found === undefined) throw new Error(`no ${name}`);
  return perform(world.world, found, tokenCaller(token, 'rest', '192.0.2.1'), input);
}

async function asPerson(name: string, input: object = {}): Promise<OperationOutcome> {
  const found = findOperation(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return perform(world.world, found, operatorCaller(), input);
}

const kind = (done: OperationOutcome): string => (done.kind === 'done' ? 'done' : done.refusal.error);
const setMode = (token: number, mode: AgentMode): Promise<OperationOutcome> =>
  asPerson('set_agent_mode', { tokenId: `tok_${token}`, mode });
const MAIL = { from: 'me@a.test', to: 'you@x.example', subject: 'Hello', text: 'Hello' };

describe('a mode', () => {
  const LEFT: Record<AgentMode, string[]> = {
    normal: ['whoami', 'list_messages', 'send_email', 'create_label', 'create_email_api_key'],
    reply_only: ['whoami', 'list_messages', 'create_label'],
    draft_only: ['whoami', 'list_messages', 'create_label'],
    read_only: ['whoami', 'list_messages'],
    frozen: ['whoami'],
  };
  test.each(AGENT_MODES)('%s leaves of everything what it says', async (mode) => {
    const token = await mint();
    expect(kind(await setMode(token, mode))).toBe('done');
    const inputs = {
      whoami: {},
      list_messages: { mailbox: 'me@a.test' },
      send_email: MAIL,
      create_label: { mailbox: 'me@a.test', name: 'urgent' },
      create_email_api_key: { name: 'shop' },
    };
    const left: string[] = [];
    for (const [name, input] of Object.entries(inputs)) {
      const done = await asToken(token, name, input);
      if (done.kind === 'done') left.push(name);
      else expect(done.refusal.error, name).toBe('action_not_allowed');
    }
    expect(left).toEqual(LEFT[mode]);
  });

  test('is that of the tokens that it made as well', async () => {
    const parent = await mint();
    const child = await mint(`tok_${parent}`);
    const grandchild = await mint(`tok_${child}`);
    const other = await mint();
    await setMode(parent, 'frozen');
    for (const id of [parent, child, grandchild])
      expect(kind(await asToken(id, 'list_emails'))).toBe('action_not_allowed');
    expect(kind(await asToken(other, 'list_emails'))).toBe('done');
    expect(kind(await setMode(child, 'normal'))).toBe('done');
    expect(kind(await asToken(parent, 'list_emails'))).toBe('action_not_allowed');
    expect(kind(await asToken(grandchild, 'list_emails'))).toBe('done');
  });

  test('is that of all that it made, however many', { timeout: 240_000 }, async () => {
    const parent = await mint();
    const children = await Promise.all(Array.from({ length: 120 }, () => mint(`tok_${parent}`)));
    await setMode(parent, 'frozen');
    const modes = await Promise.all(children.map((id) => world.world.store.read(findToken, { id })));
    expect(modes.filter((one) => one?.mode !== 'frozen')).toEqual([]);
  });

  test('read_only marks nothing as read, with a tool that else only reads', async () => {
    const token = await mint();
    const account = (await world.world.store.read(accountByKey, { tenant: 1, key: 'me@a.test' }))?.id ?? 0;
    const messageId = await putMail(world.world.store, { account, receivedAt: 1 }, 'From: <x@y.example>\n\nhello\n');
    const queried = { mailbox: 'me@a.test', messageId };
    await setMode(token, 'read_only');
    expect(kind(await asToken(token, 'get_message', { ...queried, markRead: true }))).toBe('action_not_allowed');
    expect(await asToken(token, 'get_message', queried)).toMatchObject({ result: { message: { unread: true } } });
  });

  test('is set by people and by no token, be it an owner', async () => {
    const token = await mint();
    for (const name of ['set_agent_mode', 'stop_agents', 'start_agents', 'list_agents']) {
      expect(kind(await asToken(token, name, { tokenId: `tok_${token}`, mode: 'normal' })), name).toBe(
        'action_not_allowed',
      );
    }
  });

  test('of a token of another organization cannot be set', async () => {
    expect(await asPerson('set_agent_mode', { tokenId: 'tok_99', mode: 'frozen' })).toMatchObject({
      refusal: { error: 'not_found' },
    });
  });
});

describe('stopping everything', () => {
  test('stops each token at once, and holds what has not left; then each works as before', async () => {
    const token = await mint();
    const frozen = await mint();
    await setMode(frozen, 'frozen');
    const sendAt = new Date(world.world.clock() + 3_600_000).toISOString();
    const sent = await asToken(token, 'send_email', { ...MAIL, sendAt });
    expect(sent).toMatchObject({ result: { status: 'scheduled' } });
    expect(kind(await asToken(token, 'send_email', { ...MAIL, subject: 'Now' }))).toBe('done');
    const stopped = await asPerson('stop_agents');
    expect(stopped).toMatchObject({ result: { held: 2 } });
    expect(kind(await asToken(token, 'list_emails'))).toBe('action_not_allowed');
    expect(await asPerson('list_agents')).toMatchObject({ result: { stoppedAt: expect.any(String) as string } });
    expect(kind(await asToken(token, 'release_agent_mail'))).toBe('action_not_allowed');
    await asPerson('start_agents');
    expect(kind(await asToken(token, 'list_emails'))).toBe('done');
    expect(kind(await asToken(frozen, 'list_emails'))).toBe('action_not_allowed');
    const { due } = await world.world.store.read(dueMessages, { now: world.world.clock() + 7_200_000 });
    expect(due).toEqual([]);
    // No other token can release what a person stopped.
    expect(await asToken(token, 'steer_queue', { action: 'release' })).toMatchObject({ result: { changed: 0 } });
    expect(await asPerson('steer_queue', { action: 'release' })).toMatchObject({ result: { changed: 1 } });
    expect(await asPerson('release_agent_mail')).toMatchObject({ result: { released: 1, more: false } });
    const letGo = await world.world.store.read(dueMessages, { now: world.world.clock() + 7_200_000 });
    expect(letGo.due).toHaveLength(1);
  });
});

test('letting go what was held of an agent lets go what those sent that it made', async () => {
  const parent = await mint();
  const child = await mint(`tok_${parent}`);
  const other = await mint();
  for (const id of [parent, child, other]) {
    expect(kind(await asToken(id, 'send_email', { ...MAIL, subject: `Of ${id}` }))).toBe('done');
  }
  await setMode(other, 'frozen');
  expect(await setMode(parent, 'frozen')).toMatchObject({ result: { held: 2 } });
  const letGo = await asPerson('release_agent_mail', { tokenId: `tok_${parent}` });
  expect(letGo).toMatchObject({ result: { released: 2, more: false } });
  expect(await asPerson('release_agent_mail')).toMatchObject({ result: { released: 1, more: false } });
});

describe('a password for a person', () => {
  test('is made by people and by no token', async () => {
    const token = await mint();
    const input = { address: 'me@a.test', name: 'phone', person: true };
    expect(kind(await asToken(token, 'create_app_password', input))).toBe('action_not_allowed');
    expect(await asPerson('create_app_password', input)).toMatchObject({ result: { appPassword: { person: true } } });
    expect(await asToken(token, 'create_app_password', { ...input, person: false })).toMatchObject({
      result: { appPassword: { person: false } },
    });
  });
});

describe('who decides about what waits', () => {
  const opens = async (name: string): Promise<boolean> => {
    const account = await world.account('me@a.test');
    const found = await world.world.store.read(credentialNamed, { account, name });
    return world.world.store.read(personal, { account, credential: found?.id ?? 0 });
  };

  test('is who has the password of the mailbox, until a token is shown it', async () => {
    const token = await mint();
    expect(await opens('password')).toBe(true);
    expect(kind(await asPerson('reveal_email_credentials', { address: 'me@a.test' }))).toBe('done');
    expect(await opens('password')).toBe(true);
    for (let i = 0; i < 2; i++) {
      expect(kind(await asToken(token, 'reveal_email_credentials', { address: 'me@a.test' }))).toBe('done');
      expect(await opens('password')).toBe(false);
    }
    await asPerson('rotate_email_credentials', { address: 'me@a.test' });
    expect(await opens('password')).toBe(true);
    await asToken(token, 'rotate_email_credentials', { address: 'me@a.test' });
    expect(await opens('password')).toBe(false);
  });

  test('is no password that a token made, and one that was made for a person', async () => {
    const token = await mint();
    await asToken(token, 'create_app_password', { address: 'me@a.test', name: 'by a token' });
    await asPerson('create_app_password', { address: 'me@a.test', name: 'by a person' });
    await asPerson('create_app_password', { address: 'me@a.test', name: 'for a person', person: true });
    expect(await opens('by a token')).toBe(false);
    expect(await opens('by a person')).toBe(true);
    await asPerson('save_agent_policy', { mailboxId: `mbx_${await world.account('me@a.test')}`, preset: 'custom' });
    expect(await opens('by a person')).toBe(false);
    expect(await opens('for a person')).toBe(true);
    expect(await opens('password')).toBe(false);
  });
});

test('whoami says in which mode a token works, and explain_decision why a message went', async () => {
  const token = await mint();
  const sent = await asToken(token, 'send_email', MAIL);
  const messageId = sent.kind === 'done' ? sent.result['messageId'] : '';
  const why = { result: { decision: { outcome: 'taken', tokenId: `tok_${token}`, rules: [], exposure: [] } } };
  expect(await asToken(token, 'explain_decision', { messageId })).toMatchObject(why);
  const story = await asToken(token, 'trace_message', { messageId });
  const trace = story.kind === 'done' ? (story.result['message'] as { messageId: string }).messageId : '';
  expect(trace).not.toBe(messageId);
  expect(await asToken(token, 'explain_decision', { messageId: trace })).toMatchObject(why);
  expect(await asToken(token, 'whoami')).toMatchObject({
    result: { agent: { mode: 'normal', attended: true, exposed: false, sentToday: 1 }, limits: null },
  });
  await asPerson('save_agent_policy', { name: 'slow', preset: 'trusted-internal', tokenId: `tok_${token}` });
  const limits = { sendsLeftToday: 59, newRecipientsLeftToday: 2 };
  expect(await asToken(token, 'whoami')).toMatchObject({ result: { limits } });
  const next = await asToken(token, 'send_email', { ...MAIL, to: 'other@x.example' });
  expect(next).toMatchObject({ result: { budget: { messages: 58, recipients: null, newRecipients: 1 } } });
  const limited = await mint('operator', [999]);
  expect(kind(await asToken(limited, 'explain_decision', { messageId }))).toBe('out_of_scope');
  expect(kind(await asToken(token, 'explain_decision', { messageId: 'eml_99' }))).toBe('not_found');
});
