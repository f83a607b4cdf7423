import { jmapForm } from '../../src/core/message-ids.ts';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { http, outcome, rpc } from '../support/mcp.ts';

type Json = Record<string, unknown>;

const SUPPORT = 'support@home.example';

let box: Box;
let base: string;
let password: string;
let one: string;
let two: string;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'home.example' });
  const made = (await box.ask('add_mailbox', { address: SUPPORT })) as { password: string; mailboxId: string };
  ({ password } = made);
  const { mailboxes } = (await box.ask('list_emails')) as { mailboxes: { id: string; address: string }[] };
  const id = mailboxes.find(({ address }) => address === SUPPORT)?.id;
  const token = async (name: string): Promise<string> => {
    const args = { name, actions: ['read', 'manage', 'send'], mailboxIds: [id] };
    return ((await box.ask('create_agent_token', args)) as { secret: string }).secret;
  };
  [one, two] = [await token('First'), await token('Second')];
});
afterAll(() => box[Symbol.asyncDispose]());

const call = async (token: string, name: string, args: object = {}): Promise<Json> =>
  outcome(await rpc(base, 'tools/call', { name, arguments: args }, { authorization: `Bearer ${token}` }));
const arrive = async (subject: string): Promise<{ id: string; threadId: string }> => {
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const messageId = `<${subject}@remote.example>`;
  await smtp.sendMail({ from: 'ann@remote.example', to: SUPPORT, subject, text: 'How?', messageId });
  const { messages } = await call(one, 'search_messages', { query: `subject:${subject} in:inbox` });
  return (messages as { id: string; threadId: string }[])[0] ?? { id: '', threadId: '' };
};
/** The person of the mailbox, in a mail program. */
const person = async <T>(work: (imap: ImapFlow) => Promise<T>): Promise<T> => {
  const auth = { user: SUPPORT, pass: password };
  const port = box.port('imap');
  const imap = new ImapFlow({
    host: '127.0.0.1',
    port,
    secure: false,
    auth,
    logger: false,
    tls: { rejectUnauthorized: false },
  });
  await imap.connect();
  try {
    return await work(imap);
  } finally {
    await imap.logout();
  }
};
/** Flags and folder of the message with this subject, as a mail program sees it. */
const seen = (subject: string, folder = 'INBOX'): Promise<string[] | undefined> =>
  person(async (imap) => {
    await imap.mailboxOpen(folder);
    for await (const message of imap.fetch('1:*', { flags: true, envelope: true })) {
      if (message.envelope?.subject === subject) return [...(message.flags ?? [])].map(String).toSorted();
    }
    return undefined;
  });

test('two agents and a person share a mailbox: one has the conversation, all see it, and the person goes first', async () => {
  const { id: messageId } = await arrive('shared');
  const both = await Promise.all([one, two].map((token) => call(token, 'claim_message', { messageId })));
  const [lucky, late] = both[0]?.['state'] === 'claimed' ? [one, two] : [two, one];
  expect(both.map(({ state, reason }) => state ?? reason)).toEqual(expect.arrayContaining(['claimed', 'claimed']));
  expect(both.filter(({ error }) => error === 'conflict')).toHaveLength(1);
  const name = lucky === one ? 'first' : 'second';
  expect(await seen('shared')).toEqual(['$claimed', `$claimed-${name}`]);
  const { messages } = await call(late, 'list_messages');
  expect(messages).toMatchObject([{ id: messageId, claim: { by: expect.stringMatching(/^tok_/) } }]);

  // Nothing of it is forgotten by a restart.
  await box.restart();
  expect(await call(late, 'claim_message', { messageId })).toMatchObject({ reason: 'claimed' });
  await call(lucky, 'claim_message', { messageId, action: 'release' });
  expect(await seen('shared')).toEqual([]);

  await person(async (imap) => {
    const draft = `From: <${SUPPORT}>\r\nIn-Reply-To: <shared@remote.example>\r\nReferences: <shared@remote.example>\r\nSubject: Re: shared\r\n\r\nSo\r\n`;
    await imap.append('Drafts', draft, ['\\Draft']);
  });
  expect(await call(late, 'claim_message', { messageId })).toMatchObject({ error: 'conflict', reason: 'drafted' });

  // Nor does it answer unasked: over MCP, by its draft, over JMAP.
  const stopped = { error: 'conflict', reasons: [{ code: 'drafted' }] };
  expect(await call(late, 'reply_to_email', { messageId, text: 'Hello' })).toMatchObject(stopped);
  const own = await call(late, 'create_draft', { inReplyTo: messageId, to: ['ann@remote.example'], text: 'Hello' });
  const { id: draftId, revision } = own['draft'] as Record<string, string>;
  expect(await call(late, 'send_draft', { draftId, revision })).toMatchObject(stopped);
  expect(await jmapSends(late, jmapForm(draftId ?? ''))).toMatchObject({
    notCreated: { k: { type: 'forbiddenToSend', description: expect.stringContaining('A person has a draft') } },
  });
  await person(async (imap) => {
    await imap.mailboxOpen('Drafts');
    await imap.messageDelete({ subject: 'Re: shared', not: { body: 'Hello' } });
  });
  expect(await jmapSends(late, jmapForm(draftId ?? ''))).toMatchObject({ created: { k: { id: expect.any(String) } } });
});

test('what an agent did is undone, over MCP and JMAP alike; what the person did stays', async () => {
  const [kept, thrown, gone] = [await arrive('kept'), await arrive('thrown'), await arrive('gone')];
  const since = new Date().toISOString();
  await call(one, 'update_message', { messageIds: [kept.id, thrown.id], addLabels: ['agent'], unread: false });
  await call(one, 'trash_message', { messageIds: [kept.id, thrown.id] });
  expect(await jmap(one, 'Email/set', { destroy: [jmapForm(gone.id)] })).toMatchObject({
    destroyed: [jmapForm(gone.id)],
  });
  expect(await seen('gone')).toBeUndefined();
  await person(async (imap) => {
    await imap.mailboxOpen('Trash');
    await imap.messageMove({ header: { subject: 'kept' } }, 'Archive');
  });
  const done = await call(one, 'undo_changes', { since });
  expect(done).toMatchObject({ undone: 2, kept: [{ messageId: kept.id, why: 'moved' }], nextCursor: null });
  expect(await seen('thrown')).toEqual([]);
  expect(await seen('gone')).toEqual([]);
  expect(await seen('kept', 'Archive')).toEqual([]);
});

test('a helper has one conversation and nothing else, and no other endpoint', async () => {
  const [mine, other] = [await arrive('mine'), await arrive('other')];
  const made = await call(one, 'create_narrow_token', { name: 'helper', threadId: mine.threadId, sends: 1 });
  const helper = String(made['secret']);
  expect(await call(helper, 'get_message', { messageId: mine.id })).toMatchObject({ message: { id: mine.id } });
  expect(await call(helper, 'get_message', { messageId: other.id })).toMatchObject({ error: 'not_found' });
  expect(await call(helper, 'list_messages')).toMatchObject({ error: 'out_of_scope', allowedThreadId: mine.threadId });
  const rest = await http('GET', `${base}/api/email/mailboxes/${SUPPORT}/threads/${other.threadId}`, {
    authorization: `Bearer ${helper}`,
  });
  expect(rest.status).toBe(404);
  const session = await http('GET', `${base}/jmap/session`, { authorization: `Bearer ${helper}` });
  expect(session.status).toBe(403);
  expect(session.text).toContain('MCP and REST only');
});

/** Returns the response of the first method call. */
async function jmap(token: string, method: string, args: object): Promise<Json> {
  const parts = ['core', 'mail', 'submission'].map((one) => `urn:ietf:params:jmap:${one}`);
  const methodCalls = [[method, { accountId: await accountOf(token), ...args }, '0']];
  const answer = await http(
    'POST',
    `${base}/jmap/api`,
    { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    JSON.stringify({ using: parts, methodCalls }),
  );
  const [response] = (answer.json?.['methodResponses'] ?? []) as [string, Json][];
  return response?.[1] ?? {};
}

async function jmapSends(token: string, emailId: string): Promise<Json> {
  const { list } = await jmap(token, 'Identity/get', { ids: null });
  const [identity] = list as { id: string }[];
  return jmap(token, 'EmailSubmission/set', { create: { k: { identityId: identity?.id, emailId } } });
}

async function accountOf(token: string): Promise<string> {
  const session = await http('GET', `${base}/jmap/session`, { authorization: `Bearer ${token}` });
  return Object.keys((session.json?.['accounts'] as Json | undefined) ?? {})[0] ?? '';
}
