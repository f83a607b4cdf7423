import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../src/core/caller.ts';
import { rowId } from '../../src/core/ids.ts';
import { CATALOGUE } from '../../src/operations/catalogue.ts';
import { putMail } from '../support/put-mail.ts';
import { type Tenants, type Things, twoTenants, UNLISTED } from '../support/tenants.ts';

type Json = Record<string, unknown>;
/** Ids of one message with a file, its conversation, and a draft, as lists show them. */
interface Ids {
  message: string;
  thread: string;
  attachment: string;
  draft: string;
}

const NAMES = ['messageId', 'messageIds', 'threadId', 'draftId', 'attachmentId', 'inReplyTo', 'sinceMessageId'];

let tenants: Tenants;
let several: Caller;
let one: Caller;
let ids: Ids;
let others: Ids;
let beyond: Ids;
let n = 0;

beforeAll(async () => {
  tenants = await twoTenants();
  const { main, side } = tenants.a;
  const actions = ['read', 'manage', 'send', 'organize'];
  several = await tenants.caller({ actions, mailboxIds: [main.mailboxId, side.mailboxId] });
  one = await tenants.caller({ actions, mailboxIds: [side.mailboxId] });
  const made = await tenants.do('provision_email', { domainId: main.domainId, localPart: 'third' });
  const third = made['mailbox'] as { id: string; address: string };
  ids = await idsIn(side, several);
  beyond = await idsIn({ mailboxId: third.id, address: third.address }, tenants.a.caller);
  others = await idsIn(tenants.b.main, tenants.b.caller);
});
afterAll(() => tenants[Symbol.asyncDispose]());

/** Puts a message with a file and a draft into a mailbox, and takes their ids from lists. */
async function idsIn({ mailboxId: mailbox, address }: Pick<Things, 'mailboxId' | 'address'>, by: Caller): Promise<Ids> {
  const where = { account: rowId('mailbox', mailbox) ?? 0, receivedAt: tenants.clock.now };
  const parts =
    '--c\n\nSee https://shop.example/\n--c\nContent-Disposition: attachment; filename=a.txt\n\nA file\n--c--\n';
  const head = `From: ann@shop.example\nTo: <${address}>\nMessage-ID: <i${++n}@shop.example>\nSubject: s${n}\n`;
  await putMail(tenants.world.store, where, `${head}Content-Type: multipart/mixed; boundary=c\n\n${parts}`);
  const listed = await tenants.do('list_messages', { mailbox, limit: 1 }, by);
  const [{ id: message = '', threadId: thread = '' } = {}] = listed['messages'] as { id?: string; threadId?: string }[];
  const read = await tenants.do('get_message', { mailbox, messageId: message }, by);
  const [{ id: attachment = '' } = {}] = (read['message'] as { attachments: { id?: string }[] }).attachments;
  await tenants.do('create_draft', { mailbox, to: ['bob@x.example'], subject: `d${++n}`, text: 'x' }, by);
  const { drafts } = await tenants.do('list_drafts', { mailbox, limit: 1 }, by);
  const [{ id: draft = '' } = {}] = drafts as { id?: string }[];
  return { message, thread, attachment, draft };
}

const text = (): string => `t${++n}`;

/** A call of each tool that names messages, with nothing but its ids. */
const CALLS: Readonly<Record<string, (of: Ids) => Json>> = {
  get_message: ({ message: messageId }) => ({ messageId }),
  get_message_source: ({ message: messageId }) => ({ messageId }),
  get_thread: ({ thread: threadId, message: sinceMessageId }) => ({ threadId, sinceMessageId }),
  get_attachment: ({ attachment: attachmentId }) => ({ attachmentId }),
  resolve_link: ({ message: messageId }) => ({ messageId, handle: 'link:1' }),
  update_message: ({ message }) => ({ messageIds: [message], addLabels: [text()] }),
  trash_message: ({ message }) => ({ messageIds: [message] }),
  restore_message: ({ message }) => ({ messageIds: [message] }),
  claim_message: ({ message: messageId }) => ({ messageId }),
  create_narrow_token: ({ thread: threadId }) => ({ name: text(), threadId }),
  reply_to_email: ({ message: messageId }) => ({ messageId, text: text() }),
  forward_email: ({ message: messageId }) => ({ messageId, to: ['bob@x.example'], note: text() }),
  create_draft: ({ message: inReplyTo }) => ({ inReplyTo, text: text() }),
  get_draft: ({ draft: draftId }) => ({ draftId }),
  update_draft: ({ draft: draftId }) => ({ draftId, revision: draftId, text: text() }),
  send_draft: ({ draft: draftId }) => ({ draftId, revision: draftId, dryRun: true }),
  delete_draft: ({ draft: draftId }) => ({ draftId }),
};

/** Tools whose ids are of something else, that need no mailbox, or that have tests of their own. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  cancel_scheduled_email: 'takes the id of a sending',
  explain_decision: 'takes the id of a sending',
  replay_webhook_delivery: 'is about a webhook',
  request_release: 'needs a quarantined message',
  release_message: 'is for people',
  send_email: 'has the mailbox at from',
  steer_queue: 'takes the id of a sending',
  trace_message: 'knows mail that came over a wire',
};

test('every tool that names messages is here', () => {
  const naming = [...CATALOGUE, ...UNLISTED].filter(({ input }) => NAMES.some((name) => name in input.shape));
  expect(naming.map(({ name }) => name).toSorted()).toEqual(
    [...Object.keys(CALLS), ...Object.keys(ELSEWHERE)].toSorted(),
  );
});

test('ids of lists name their mailbox', () => {
  const number = rowId('mailbox', tenants.a.side.mailboxId);
  for (const id of [ids.message, ids.draft]) expect(id).toMatch(new RegExp(`^m${number}_[0-9a-z]+$`));
  expect(ids.thread).toMatch(new RegExp(`^t${number}_[0-9a-z]+$`));
  expect(ids.attachment).toMatch(new RegExp(`^${ids.message}-2$`));
});

/** Makes new ones: some calls delete what they name. */
const fresh = async (by: Caller): Promise<Ids> => idsIn(tenants.a.side, by);
/** The ids as JMAP has them. */
const short = (of: Ids): Ids =>
  Object.fromEntries(Object.entries(of).map(([kind, id]: [string, string]) => [kind, id.replace(/\d+_/, '')])) as never;

describe.each(Object.entries(CALLS))('%s', (name, args) => {
  const refusal = async (given: Json, by: Caller): Promise<Json | undefined> => {
    const done = await tenants.try(name, given, by);
    if (done.kind === 'done') return undefined;
    const { requestId: _id, ...rest } = done.refusal;
    return { ...rest };
  };

  test('needs nothing but an id of a list, for a token of several mailboxes', async () => {
    expect(await refusal(args(await fresh(several)), several)).toBeUndefined();
  });

  test('takes an id of JMAP where the mailbox is named, or the only one', async () => {
    const { mailboxId: mailbox } = tenants.a.side;
    expect(await refusal({ mailbox, ...args(short(await fresh(several))) }, several)).toBeUndefined();
    expect(await refusal(args(short(await fresh(one))), one)).toBeUndefined();
    expect(await refusal(args(await fresh(one)), one)).toBeUndefined();
    expect(await refusal(args(short(await fresh(several))), several)).toMatchObject({ error: 'invalid_arguments' });
  });

  test("says the same of another tenant's, of one beyond the token, and of none at all", async () => {
    const none = Object.fromEntries(
      Object.entries(ids).map(([kind, id]: [string, string]) => [kind, id.replace(/\d+_/, '99999_')]),
    );
    const missing = await refusal(args(none as never), several);
    expect(missing).toMatchObject({ error: 'not_found' });
    expect(await refusal(args(others), several)).toEqual(missing);
    expect(await refusal(args(beyond), several)).toEqual(missing);
  });

  test('finds nothing where the mailbox and the id differ', async () => {
    const { mailboxId: mailbox } = tenants.a.main;
    expect(await refusal({ mailbox, ...args(await fresh(several)) }, several)).toMatchObject({ error: 'not_found' });
  });
});

describe('several mailboxes in one call', () => {
  test.each(['update_message', 'trash_message', 'restore_message'])('%s changes them all', async (name) => {
    const first = await idsIn(tenants.a.main, several);
    const second = await fresh(several);
    if (name === 'restore_message')
      await tenants.do('trash_message', { messageIds: [first.message, second.message] }, several);
    const messageIds = [first.message, second.message, others.message, beyond.message];
    const more = name === 'update_message' ? { folder: 'archive' } : {};
    expect(await tenants.do(name, { messageIds, ...more }, several)).toMatchObject({
      [name === 'update_message' ? 'updated' : 'moved']: 2,
      failed: [others.message, beyond.message].map((messageId) => ({ messageId, error: 'not_found' })),
    });
  });

  test('a message that is named in two forms is changed once', async () => {
    const { message } = await fresh(one);
    const messageIds = [message, message.replace(/\d+_/, ''), message];
    expect(await tenants.do('trash_message', { messageIds }, one)).toMatchObject({ moved: 1, failed: [] });
  });
});

test('trace_message finds mail by its id of a list', async () => {
  const [{ address: from }, { address: to, mailboxId: mailbox }] = [tenants.a.main, tenants.a.side];
  const sent = await tenants.do('send_email', { from, to, subject: 'x', text: text() }, several);
  const { messages } = await tenants.do('list_messages', { mailbox, limit: 1 }, several);
  const [{ id: messageId = '' } = {}] = messages as { id?: string }[];
  const found = await tenants.do('trace_message', { messageId }, several);
  expect(found).toMatchObject({ message: { rfc822MessageId: sent['rfc822MessageId'] } });
  for (const id of [others.message, beyond.message, 'm99999_1']) {
    expect(await tenants.try('trace_message', { messageId: id }, several)).toMatchObject({
      refusal: { error: 'not_found' },
    });
  }
});

describe('mail that is sent', () => {
  test('answers and attaches what lists show', async () => {
    const { address: from } = tenants.a.side;
    const { message: inReplyTo, thread: threadId, attachment: attachmentId } = await fresh(several);
    const mail = { from, to: 'bob@x.example', subject: 's', text: 'x' };
    const inThread = await tenants.do('send_email', { ...mail, threadId, text: text() }, several);
    expect(inThread).toMatchObject({ status: 'queued', threadId: expect.stringMatching(/^t\d+_/) as string });
    expect(await tenants.do('send_email', { ...mail, inReplyTo, text: text() }, several)).toMatchObject({
      status: 'queued',
    });
    const attached = { ...mail, text: text(), attachments: [{ attachmentId }, { attachmentId: inReplyTo }] };
    expect(await tenants.do('send_email', attached, several)).toHaveProperty('status');
    for (const id of [others.attachment, beyond.attachment, 'm99999_1-2']) {
      const done = await tenants.try('send_email', { ...mail, attachments: [{ attachmentId: id }] }, several);
      expect(done).toMatchObject({ refusal: { error: 'not_found' } });
    }
  });
});

test('a draft keeps its id in both forms while it changes', async () => {
  const { draft } = await fresh(several);
  const changed = await tenants.do('update_draft', { draftId: draft, revision: draft, text: 'y' }, several);
  const { id, revision } = changed['draft'] as { id: string; revision: string };
  expect(id).toBe(draft);
  const { mailboxId: mailbox } = tenants.a.side;
  const old = { mailbox, draftId: draft.replace(/\d+_/, ''), revision: revision.replace(/\d+_/, '') };
  expect(await tenants.do('get_draft', { mailbox, draftId: old.draftId }, several)).toMatchObject({
    draft: { id: draft, revision },
  });
  expect(await tenants.do('send_draft', old, several)).toMatchObject({ status: 'queued', duplicateOf: null });
  const again = await tenants.do('send_draft', { draftId: draft, revision }, several);
  expect(again['duplicateOf']).not.toBeNull();
});
