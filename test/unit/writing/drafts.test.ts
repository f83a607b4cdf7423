import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rowIn } from '../../../src/core/message-ids.ts';
import { destroyEmails } from '../../../mail/store/message/email-change-commands.ts';
import { findSentBefore } from '../../../mail/store/queue/idempotency.ts';
import { DRAFT, SEEN } from '../../../mail/store/mailbox/flags.ts';
import { fieldOf, type Json, WritingWorld } from '../../support/writing.ts';

let world: WritingWorld;
beforeAll(async () => {
  world = await WritingWorld.open();
});
afterAll(() => world[Symbol.asyncDispose]());

interface Draft extends Json {
  id: string;
  revision: string;
  policyPreview: Json;
  body: { text: string; nonce: string } | null;
}
const draftOf = async (done: Promise<Json>): Promise<Draft> => (await done)['draft'] as Draft;
const create = (args: object): Promise<Draft> => draftOf(world.do('create_draft', args));
const get = (draftId: string): Promise<Draft> => draftOf(world.do('get_draft', { draftId }));
const textOf = ({ body }: Draft): string => (body?.text ?? '').replaceAll(`${body?.nonce}| `, '');
const MAIL = { to: 'you@else.example', subject: 'Offer', text: 'Dear you' };

/** Saves an edited draft as a mail program does: stores a new message and deletes the old one. */
async function edited(draft: Draft, header: string, body: string): Promise<string> {
  const put = await world.put(header, body, { folder: 'Drafts', bits: SEEN | DRAFT, trust: undefined as never });
  const email = rowIn('email', world.account, draft.revision) ?? 0;
  await world.tenants.world.store.write(destroyEmails, { account: world.account, emails: [email], ifState: null });
  return put;
}

describe('a draft', () => {
  test('lies in Drafts as one, keeps blind copies, and says what sending it would do', async () => {
    const draft = await create({ ...MAIL, bcc: 'hidden@else.example' });
    expect(draft).toMatchObject({
      id: draft.revision,
      bcc: [{ address: 'hidden@else.example' }],
      policyPreview: { wouldRequireApproval: false, error: null, reasons: [] },
    });
    expect(draft.policyPreview['recipients']).toEqual([
      { address: 'you@else.example', state: 'queued' },
      { address: 'hidden@else.example', state: 'queued' },
    ]);
    const { messages } = await world.do('list_messages', { folder: 'drafts' });
    expect(messages).toContainEqual(expect.objectContaining({ id: draft.id, unread: false }));
    const { drafts } = await world.do('list_drafts');
    expect(drafts).toContainEqual(expect.objectContaining({ id: draft.id, revision: draft.revision }));
  });

  test('asked for again within ten minutes is the same one, as long as it is there as it was', async () => {
    const queried = { ...MAIL, subject: 'Asked twice' };
    const first = await create(queried);
    expect((await create(queried)).id).toBe(first.id);
    expect((await create({ ...queried, text: 'Other' })).id).not.toBe(first.id);
    await world.do('delete_draft', { draftId: first.id });
    expect((await create(queried)).id).not.toBe(first.id);
  });

  test('that an equal request sends meanwhile is sent once, and both are answered that it was', async () => {
    const { id: draftId, revision } = await create({ ...MAIL, subject: 'Sent meanwhile' });
    const { store } = world.tenants.world;
    const read = store.read.bind(store);
    const first: Json[] = [];
    // The first request looks for an earlier one, and then finds that the draft is gone.
    const spy = vi.spyOn(store, 'read').mockImplementation(async (query, input) => {
      const found = await read(query, input);
      if (query.name === findSentBefore.name) {
        spy.mockRestore();
        first.push(await world.do('send_draft', { draftId, revision }));
      }
      return found;
    });
    const second = await world.do('send_draft', { draftId, revision });
    expect(first).toHaveLength(1);
    expect(first[0]).toMatchObject({ duplicateOf: null });
    expect(second).toMatchObject({ id: first[0]?.['id'], status: 'queued', duplicateOf: first[0]?.['id'] });
  });

  test('may be without recipients and text; then it would not be sent', async () => {
    const draft = await create({ subject: 'Later' });
    expect(draft.policyPreview).toMatchObject({ error: 'invalid_arguments', recipients: [] });
    expect(await world.refused('send_draft', { draftId: draft.id, revision: draft.revision })).toMatchObject({
      error: 'invalid_arguments',
    });
  });

  test('that answers has its recipients, subject, thread and quote from the message, and is in its thread', async () => {
    const header = 'From: Bert <bert@shop.example>\nTo: anna@alpha-main.test\nSubject: Lunch\nMessage-ID: <l1@shop>';
    const messageId = await world.put(header, 'At noon?');
    const draft = await create({ inReplyTo: messageId, text: 'Yes.' });
    expect(draft).toMatchObject({
      to: [{ address: 'bert@shop.example' }],
      untrusted: { subject: 'Re: Lunch' },
    });
    const { message } = await world.do('get_message', { messageId });
    expect(draft['threadId']).toBe((message as Json)['threadId']);
    const again = await draftOf(world.do('update_draft', { draftId: draft.id, revision: draft.revision, text: 'No.' }));
    expect(textOf(await get(draft.id))).toBe('No.');
    expect(again['quotedChars']).toBeGreaterThan(10);
    const sent = await world.do('send_draft', { draftId: draft.id, revision: again.revision });
    const source = await world.source(sent);
    expect(source).toMatch(/No\.\r\n\r\nOn .*wrote:\r\n> At noon\?/);
    expect(fieldOf(source, 'In-Reply-To')).toBe('<l1@shop>');
    const flags = await world.do('search_messages', { query: 'subject:lunch in:inbox' });
    expect(flags['messages']).toHaveLength(1);
  });

  test('changes what is given and keeps the rest, its id and its Message-ID; every form has a revision of its own', async () => {
    const file = { filename: 'a.txt', contentBase64: 'SGVsbG8=' };
    const first = await create({ ...MAIL, cc: 'too@else.example', attachments: [file] });
    const second = await draftOf(
      world.do('update_draft', { draftId: first.id, revision: first.revision, subject: 'Better offer' }),
    );
    expect(second).toMatchObject({ id: first.id, cc: [{ address: 'too@else.example' }], hasAttachments: true });
    expect(second.revision).not.toBe(first.revision);
    expect(await get(first.id)).toMatchObject({ revision: second.revision, untrusted: { subject: 'Better offer' } });
    expect(textOf(await get(first.id))).toBe('Dear you');
    const [kept] = second['attachments'] as { id: string }[];
    const third = await draftOf(
      world.do('update_draft', {
        draftId: first.id,
        revision: second.revision,
        attachments: [{ attachmentId: kept?.id, filename: 'b.txt' }],
      }),
    );
    expect(third).toMatchObject({ untrusted: { filenames: ['b.txt'] } });
    const { drafts } = await world.do('list_drafts', { limit: 50 });
    const mine = (drafts as { untrusted: { subject: string } }[]).filter(
      ({ untrusted }) => untrusted.subject === 'Better offer',
    );
    expect(mine).toHaveLength(1);
  });

  test.each([
    ['with the same Message-ID, under another subject', (id: string) => `Subject: Mine now\nMessage-ID: ${id}`],
    ['with another Message-ID, the subject and recipients as they were', () => 'Subject: Edit me\nMessage-ID: <new@x>'],
    ['with no Message-ID at all', () => 'Subject: Edit me'],
  ])('that a person saved again %s is a conflict for who knows the old one only', async (_, header) => {
    const draft = await create({ ...MAIL, subject: 'Edit me' });
    const id = (await octetsOf(draft)).match(/^Message-ID: (.*)$/m)?.[1]?.trim() ?? '';
    const put = await edited(
      draft,
      `From: anna@alpha-main.test\nTo: you@else.example\n${header(id)}`,
      'A person wrote',
    );
    const stale = { draftId: draft.id, revision: draft.revision };
    for (const [name, more] of [
      ['update_draft', { text: 'x' }],
      ['delete_draft', {}],
      ['send_draft', {}],
    ] as const)
      expect(await world.refused(name, { ...stale, ...more })).toMatchObject({ error: 'conflict', revision: put });
    const now = await get(draft.id);
    expect(now.revision).toBe(put);
    expect(textOf(now)).toBe('A person wrote');
    const sent = await world.do('send_draft', { draftId: draft.id, revision: put });
    expect(await world.source(sent)).toContain('A person wrote');
  });

  test('of a person is shown and sent as it is, without blind copies and what the program kept in it', async () => {
    const header = [
      'From: Anna <anna@alpha-main.test>',
      'To: you@else.example',
      'Bcc: hidden@else.example',
      'Date: Mon, 01 Jan 2024 00:00:00 +0000',
      'X-Mozilla-Draft-Info: internal/draft; vcard=0',
      'Subject: Mine',
    ].join('\n');
    const draftId = await world.put(header, 'Grüße', { folder: 'Drafts', bits: SEEN | DRAFT });
    const { draft } = (await world.do('get_draft', { draftId })) as { draft: Draft };
    const sent = await world.do('send_draft', { draftId, revision: draft.revision });
    expect(sent).toMatchObject({ envelope: { rcptTo: ['you@else.example', 'hidden@else.example'] } });
    const source = await world.source(sent);
    expect(source).toContain('Grüße');
    expect(source).not.toMatch(/hidden@|X-Mozilla|2024/);
    expect(fieldOf(source, 'Date')).toContain('2026');
    expect(fieldOf(source, 'Message-ID')).toMatch(/^<.+@alpha-main\.test>$/);
  });
});

/** The stored octets of a draft. */
async function octetsOf(draft: Draft): Promise<string> {
  const { message } = await world.do('get_message', { messageId: draft.revision, format: 'headers' });
  const { body } = message as { body: { text: string; nonce: string } };
  return body.text.replaceAll(`${body.nonce}| `, '').replace(/^message-id/m, 'Message-ID');
}

test('whom a draft names at no readable address is reported, and not left out without a word', async () => {
  const header = 'From: anna@alpha-main.test\nTo: you@else.example, "two words"@else.example\nSubject: Odd';
  const draftId = await world.put(header, 'Hello', { folder: 'Drafts', bits: SEEN | DRAFT });
  const args = { draftId, revision: draftId };
  expect(await world.refused('send_draft', args)).toMatchObject({ error: 'invalid_arguments' });
  expect(await world.refused('update_draft', { ...args, subject: 'x' })).toMatchObject({ error: 'conflict' });
  expect((await get(draftId)).policyPreview).toMatchObject({ error: 'invalid_arguments', recipients: [] });
});

describe('send_draft', () => {
  test('takes the draft away and files the copy in one commit, once, however often it is asked', async () => {
    const draft = await create({ ...MAIL, subject: 'Once' });
    const args = { draftId: draft.id, revision: draft.revision };
    const count = async (query: string): Promise<number> =>
      ((await world.do('search_messages', { query }))['messages'] as []).length;
    const [one, two] = await Promise.all([world.do('send_draft', args), world.do('send_draft', args)]);
    expect(new Set([one['id'], two['id']]).size).toBe(1);
    expect((await world.do('send_draft', args))['duplicateOf']).toBe(one['id']);
    expect(await count('subject:once in:drafts')).toBe(0);
    expect(await count('subject:once in:sent')).toBe(1);
    world.tenants.clock.now += 30 * 60_000;
    expect((await world.do('send_draft', args))['duplicateOf']).toBe(one['id']);
    // Another token's guard knows nothing of it: the draft itself is gone.
    const other = await world.tenants.caller({ actions: ['read', 'send'] });
    expect(await world.refused('send_draft', args, other)).toMatchObject({ error: 'not_found' });
    expect(await world.refused('get_draft', { draftId: draft.id })).toMatchObject({ error: 'not_found' });
  });

  test('by two tokens at once sends one: who comes second finds no draft', async () => {
    const other = await world.tenants.caller({ actions: ['read', 'send'] });
    for (let round = 0; round < 5; round++) {
      const draft = await create({ ...MAIL, subject: `Race ${round}` });
      const args = { mailbox: world.mailbox, draftId: draft.id, revision: draft.revision };
      const both = await Promise.all([
        world.tenants.try('send_draft', args),
        world.tenants.try('send_draft', args, other),
        world.tenants.try('update_draft', { ...args, text: 'Meanwhile' }, other),
      ]);
      const done = both.filter(({ kind }) => kind === 'done');
      expect(done).toHaveLength(1);
      for (const one of both) {
        if (one.kind === 'done') continue;
        expect(['conflict', 'not_found']).toContain(one.refusal.error);
      }
    }
  });

  test('that is not taken leaves the draft where it is', async () => {
    const draft = await create({ ...MAIL, to: 'gone@gone.example', subject: 'Stays' });
    await world.tenants.do('add_suppression', { address: 'gone@gone.example' });
    const args = { draftId: draft.id, revision: draft.revision };
    expect(await world.refused('send_draft', args)).toMatchObject({ error: 'recipient_blocked' });
    expect((await get(draft.id)).revision).toBe(draft.revision);
    expect(await world.do('send_draft', { ...args, dryRun: true }).catch(String)).toContain('recipient_blocked');
  });
});

test('a message that never was a draft is none, and a draft cannot be answered', async () => {
  const messageId = await world.put('From: b@x.example\nTo: anna@alpha-main.test\nSubject: Hi');
  for (const draftId of [messageId, 'mzzzz'])
    expect(await world.refused('get_draft', { draftId })).toMatchObject({ error: 'not_found' });
  const draft = await create(MAIL);
  expect(await world.refused('reply_to_email', { messageId: draft.id, text: 'x' })).toMatchObject({
    error: 'conflict',
  });
});

test('a deleted draft is in the trash', async () => {
  const draft = await create({ ...MAIL, subject: 'Trashed' });
  await world.do('delete_draft', { draftId: draft.id, revision: draft.revision });
  expect((await world.do('search_messages', { query: 'subject:trashed in:trash' }))['messages']).toHaveLength(1);
  expect(await world.refused('delete_draft', { draftId: draft.id })).toMatchObject({ error: 'not_found' });
});
