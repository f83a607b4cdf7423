import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowId } from '../../../src/core/ids.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { putMail } from '../../support/put-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
let mailbox: string;
let one: Caller;
let two: Caller;
let messageId: string;
let n = 0;

beforeAll(async () => {
  tenants = await twoTenants();
  mailbox = tenants.a.main.mailboxId;
  const limits = { actions: ['read', 'send'], mailboxIds: [mailbox] };
  const person = operatorCaller(rowId('organization', tenants.a.main.organizationId));
  one = await tenants.caller({ ...limits, name: 'Support Bot №1' }, person);
  two = await tenants.caller({ ...limits, name: '#!' });
});
afterAll(() => tenants[Symbol.asyncDispose]());
beforeEach(async () => {
  const account = rowId('mailbox', mailbox) ?? 0;
  const text = `Message-ID: <c${++n}@x.example>\nFrom: ann@x.example\nSubject: s${n}\n\nx\n`;
  messageId = await putMail(tenants.world.store, { account, receivedAt: tenants.clock.now }, text);
});

const claim = (caller: Caller, args: object = {}) => tenants.do('claim_message', { messageId, ...args }, caller);
const refused = async (caller: Caller, args: object = {}) => {
  const said = await tenants.try('claim_message', { messageId, ...args }, caller);
  return said.kind === 'refused' ? said.refusal : said;
};
const listed = async (): Promise<{ labels: string[]; claim?: { by: string } }> => {
  const { messages } = await tenants.do('list_messages', { mailbox, limit: 50 });
  return (messages as { id: string; labels: string[] }[]).find(({ id }) => id === messageId) ?? { labels: [] };
};

test('an agent claims, another is informed who has it and until when, and lists show it', async () => {
  const until = new Date(tenants.clock.now + 600_000).toISOString();
  expect(await claim(one)).toMatchObject({ state: 'claimed', messageId, until });
  expect(await refused(two)).toMatchObject({ error: 'conflict', reason: 'claimed', claimedBy: one.actor, until });
  expect(await listed()).toMatchObject({
    labels: ['$claimed', '$claimed-support-bot-1'],
    claim: { by: one.actor, until },
  });
  expect(await claim(one, { action: 'release' })).toMatchObject({ state: 'free', until: null });
  expect((await listed()).claim).toBeUndefined();
  await claim(two, { minutes: 1440 });
  // A name without a letter is no keyword.
  expect((await listed()).labels).toContain(`$claimed-${two.actor}`);
});

test('what is done is for nobody any more; a claim whose time is over is lost', async () => {
  await claim(one);
  expect(await refused(two, { action: 'ack' })).toMatchObject({ reason: 'claimed' });
  expect(await claim(one, { action: 'ack' })).toMatchObject({ state: 'done' });
  expect(await refused(two)).toMatchObject({ error: 'conflict', reason: 'done' });
  expect(await refused(one, { action: 'ack' })).toMatchObject({ error: 'conflict', reason: 'not_claimed' });
});

test('without a claim an answer gives way too: what is done, what a person has begun or sent', async () => {
  const reply = () => tenants.try('reply_to_email', { mailbox, messageId, text: 'so', dryRun: true }, one);
  const why = async (): Promise<unknown> => {
    const said = await reply();
    return said.kind === 'refused' ? said.refusal : said.kind;
  };
  expect(await why()).toBe('done');
  const person = operatorCaller(tenants.a.caller.organization);
  const { draft } = await tenants.do('create_draft', { mailbox, inReplyTo: messageId, text: 'I' }, person);
  expect(await why()).toMatchObject({ error: 'conflict', reasons: [{ code: 'drafted' }] });
  const { id: draftId, revision } = draft as { id: string; revision: string };
  await tenants.do('delete_draft', { mailbox, draftId, revision }, person);
  expect(await why()).toBe('done');
  await claim(two);
  await claim(two, { action: 'ack' });
  expect(await why()).toMatchObject({ error: 'conflict', reasons: [{ code: 'done' }] });
});

test('a person takes it from anybody; whose token is revoked keeps nobody waiting', async () => {
  await claim(one);
  const person = operatorCaller(tenants.a.caller.organization);
  expect(await tenants.do('claim_message', { messageId, mailbox, action: 'release' }, person)).toMatchObject({
    state: 'free',
  });
  const third = await tenants.caller({ name: 'third', actions: ['read', 'send'], mailboxIds: [mailbox] });
  await claim(third);
  await tenants.do('revoke_agent_token', { tokenId: third.actor });
  expect(await claim(two)).toMatchObject({ state: 'claimed' });
});

test('drafts of agents are in nobody’s way; a person’s stays a person’s when an agent goes on with it', async () => {
  const draft = (caller: Caller) =>
    tenants.do('create_draft', { mailbox, inReplyTo: messageId, text: 'so' }, caller) as Promise<{
      draft: { id: string; revision: string };
    }>;
  await draft(two);
  expect(await claim(one)).toMatchObject({ state: 'claimed' });
  await claim(one, { action: 'release' });
  const person = operatorCaller(tenants.a.caller.organization);
  const { id: draftId, revision } = (await draft(person)).draft;
  expect(await refused(one)).toMatchObject({ reason: 'drafted' });
  await tenants.do('update_draft', { mailbox, draftId, revision, text: 'and so' }, two);
  expect(await refused(one)).toMatchObject({ reason: 'drafted' });
});

test('by its thread as well, and by nothing else', async () => {
  const { threadId } = (await claim(one)) as { threadId: string };
  expect(await refused(two, { messageId: undefined, threadId })).toMatchObject({ reason: 'claimed' });
  expect(await refused(one, { threadId })).toMatchObject({ error: 'invalid_arguments' });
  expect(await refused(one, { messageId: undefined })).toMatchObject({ error: 'invalid_arguments' });
});

test('another organization learns nothing: not there and not its own are one answer', async () => {
  const foreign = await refused(tenants.b.caller, { mailbox });
  const nobody = await refused(tenants.b.caller, { mailbox: 'mbx_999999' });
  expect({ ...foreign, requestId: '' }).toEqual({ ...nobody, requestId: '' });
});
