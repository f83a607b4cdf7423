import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { outcome, rpc, toolNames } from '../support/mcp.ts';

type Json = Record<string, unknown>;

const ME = 'me@home.example';

let box: Box;
let base: string;
let mailboxId: string;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'home.example' });
  await box.ask('add_mailbox', { address: ME, password: 'correct-horse-battery' });
  const { mailboxes } = (await box.ask('list_emails')) as { mailboxes: { id: string; address: string }[] };
  mailboxId = mailboxes.find(({ address }) => address === ME)?.id ?? '';
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const letter = { from: 'ann@remote.example', to: ME };
  await smtp.sendMail({ ...letter, subject: 'Question', text: 'How are you?' });
  await smtp.sendMail({ ...letter, subject: 'Login', text: 'Your verification code is 482915. It expires soon.' });
  smtp.close();
});
afterAll(() => box[Symbol.asyncDispose]());

async function mint(name: string, actions: string[]): Promise<string> {
  const made = await box.ask('create_agent_token', { name, actions, mailboxIds: [mailboxId] });
  return (made as { secret: string }).secret;
}
const call = async (token: string, name: string, args: object = {}): Promise<Json> =>
  outcome(await rpc(base, 'tools/call', { name, arguments: args }, { authorization: `Bearer ${token}` }));
const listed = async (token: string): Promise<string[]> =>
  toolNames(await rpc(base, 'tools/list', {}, { authorization: `Bearer ${token}` }));

/** Tools that docs/agents.md names for an agent. */
const REPORTED =
  'whoami get_agent_policy list_emails search_tools search_docs list_messages search_messages get_message get_thread wait_for_email reply_to_email send_email list_outbox get_outbox_item explain_decision list_proposals claim_message create_draft'.split(
    ' ',
  );

test('a token that reads and sends mail may call all that it is asked to, and is listed nothing else', async () => {
  const token = await mint('natural', ['mail_read', 'send']);
  const names = await listed(token);
  expect(names).toEqual(expect.arrayContaining(REPORTED));
  for (const name of ['add_email_domain', 'trash_message', 'create_own_organization', 'list_agent_tokens'])
    expect(names).not.toContain(name);
  for (const name of names) {
    const said = await call(token, name, { nothingLikeIt: 1 });
    expect([name, said['error']]).toEqual([name, 'invalid_arguments']);
  }
  expect((await call(token, 'list_emails'))['mailboxes']).toMatchObject([{ address: ME }]);
  expect((await call(token, 'search_tools', { query: 'reply' }))['tools']).not.toEqual([]);
  expect(await call(token, 'search_docs', { query: 'policy' })).not.toHaveProperty('error');
  expect(await call(token, 'list_proposals')).toMatchObject({ proposals: [] });
});

test('it sees its own held mail and why it is held, and not that of another token', async () => {
  const [own, other] = [await mint('own', ['mail_read', 'send']), await mint('other', ['mail_read', 'send'])];
  for (const token of [own, other]) await call(token, 'list_messages');
  const held = await call(own, 'send_email', { from: ME, to: 'new@x.example', subject: 'Hi', text: 'Hello' });
  const foreign = await call(other, 'send_email', { from: ME, to: 'two@x.example', subject: 'Hi', text: 'Hi' });
  expect([held['status'], foreign['status']]).toEqual(['pending_approval', 'pending_approval']);
  const items = (await call(own, 'list_outbox'))['items'] as { outboxId: string }[];
  expect(items.map(({ outboxId }) => outboxId)).toEqual([held['outboxId']]);
  expect(await call(own, 'get_outbox_item', { outboxId: held['outboxId'] })).toMatchObject({ state: 'pending' });
  expect(await call(own, 'explain_decision', { outboxId: held['outboxId'] })).toMatchObject({
    decision: { outcome: 'held' },
  });
  for (const tool of ['get_outbox_item', 'explain_decision', 'withdraw_outbox_item']) {
    expect(await call(own, tool, { outboxId: foreign['outboxId'] }), tool).toMatchObject({ error: 'not_found' });
  }
});

test('the action organize marks, labels, moves, trashes and restores, and does nothing else', async () => {
  const token = await mint('tidy', ['mail_read', 'organize']);
  const { messages } = await call(token, 'search_messages', { query: 'subject:Question' });
  const [{ id: messageId }] = messages as [{ id: string }];
  const messageIds = [messageId];
  expect(await call(token, 'get_message', { messageId, markRead: true })).toHaveProperty('message');
  expect(await call(token, 'create_label', { name: 'todo' })).not.toHaveProperty('error');
  expect(await call(token, 'update_message', { messageIds, addLabels: ['todo'], starred: true })).toMatchObject({
    updated: 1,
  });
  expect(await call(token, 'trash_message', { messageIds })).toMatchObject({ moved: 1 });
  expect(await call(token, 'restore_message', { messageIds })).toMatchObject({ moved: 1 });
  for (const tool of ['send_email', 'delete_email', 'create_app_password', 'delete_label'])
    expect(await call(token, tool), tool).toMatchObject({ error: 'action_not_allowed' });
});

test('a reply that is refused for what it quotes says so, and is sent without the quote', async () => {
  const token = await mint('replier', ['mail_read', 'send']);
  const found = await call(token, 'wait_for_code', { expectFrom: 'remote.example', timeoutSeconds: 0 });
  const { messages } = await call(token, 'search_messages', { query: 'subject:Login' });
  const [{ id: messageId }] = messages as [{ id: string }];
  await call(token, 'get_message', { messageId, format: 'facts' });
  const reply = await call(token, 'reply_to_email', { messageId, text: 'Thank you' });
  expect(reply, JSON.stringify(found)).toMatchObject({ error: 'secret_in_message' });
  expect(reply['message']).toMatch(
    /^Blocked: the quoted original contains a secret \(.+\)\. Retry with quote: false\.$/,
  );
  const without = await call(token, 'reply_to_email', { messageId, text: 'Thank you', quote: false });
  expect(without).not.toHaveProperty('error');
  const own = await call(token, 'reply_to_email', { messageId, text: 'The code is 482915', quote: false });
  expect(own['message']).toMatch(/^Blocked: the message contains a secret/);
});
