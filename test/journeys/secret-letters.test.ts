import { jmapForm } from '../../src/core/message-ids.ts';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type Args, JmapClient } from '../support/jmap-client.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { outcome, rpc } from '../support/mcp.ts';
import { leads, Visitor } from '../support/visitor.ts';

/*
 * The owner of an organization reads mail in a mailbox of this box, and an agent holds a token for it that reads, manages
 * and sends. It requests a password reset of the owner, and tries every protocol to see the link in the mail.
 */
const ME = 'me@box.test';
const OTHER = 'other@box.test';
const PASSWORD = 'correct-horse-battery';

let box: Box;
let base: string;
let owner: Visitor;
/** Password of the mailbox for a person's mail program. */
let phone: string;
let token: string;
/** Secret in the newest reset link. */
let secret: string;
/** Message with the link. */
let messageId: string;
let threadId: string;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_mailbox', { address: OTHER, password: PASSWORD });
  owner = new Visitor(base);
  const link = /\/auth\/sign-in\?token=([0-9a-f]{48})/.exec(box.printed.join('\n'))?.[1] ?? '';
  expect(leads(await owner.post('/auth/sign-in', { token: link }))).toBe('303 /');
  expect((await owner.act('/account', 'password', { password: 'a calculus of logic' })).status).toBe(303);
  const password = await box.ask('create_app_password', { address: ME, name: 'my phone', person: true });
  phone = (password as { password: string }).password;
  const made = await box.ask('create_agent_token', { name: 'agent', actions: ['read', 'manage', 'send'] });
  token = (made as { secret: string }).secret;
  await reset();
  const { messages } = (await call('list_messages', { mailbox: ME })) as { messages: Record<string, string>[] };
  [messageId = '', threadId = ''] = [messages[0]?.['id'], messages[0]?.['threadId']];
});
afterAll(() => box[Symbol.asyncDispose]());

/** Asks for a new password as anybody can; the letter is there when it resolves. */
async function reset(): Promise<void> {
  const before = box.log.filter(isSent).length;
  await new Visitor(base).post('/auth/reset', { email: ME });
  await box.logged((line) => isSent(line) && box.log.filter(isSent).length > before);
  secret = await mailed('/auth/reset');
}

const isSent = (line: Readonly<Record<string, unknown>>): boolean =>
  line['msg'] === 'password reset requested' && line['outcome'] === 'sent';

/** The last link to a page, as a person reads it with the password of the mailbox. */
async function mailed(page: string): Promise<string> {
  using reader = await MailboxReader.open(box.port('imap'), ME, phone);
  await reader.command('SELECT INBOX');
  const text = plain((await reader.command('FETCH 1:* BODY.PEEK[]')).toString('latin1'));
  return [...text.matchAll(new RegExp(`${page}\\?token=([0-9a-f]{48})`, 'g'))].at(-1)?.[1] ?? expect.fail(text);
}

const plain = (text: string): string => text.replaceAll('=\r\n', '').replaceAll('=3D', '=');

/** Over MCP; a refusal is an answer too. */
async function call(name: string, args: object): Promise<Args> {
  return outcome(await rpc(base, 'tools/call', { name, arguments: args }, { authorization: `Bearer ${token}` }));
}

const resource = async (uri: string): Promise<string> =>
  (await rpc(base, 'resources/read', { uri }, { authorization: `Bearer ${token}` })).text;

/** Fails when an answer has the secret, as it stands or in base64. */
function clean(answer: unknown): void {
  const text = plain(typeof answer === 'string' ? answer : JSON.stringify(answer));
  const decoded = (text.match(/[A-Za-z0-9+/]{40,}/g) ?? []).map((run) => Buffer.from(run, 'base64').toString('latin1'));
  for (const one of [text, ...decoded])
    expect(plain(one).includes(secret.slice(0, 12)), one.slice(0, 2000)).toBe(false);
}

describe('a token that reads, manages and sends', () => {
  const TOOLS: [string, (m: string, t: string) => object][] = [
    ['list_messages', () => ({})],
    ['search_messages', () => ({ query: 'password' })],
    ...['text', 'markdown', 'html_sanitized', 'headers', 'facts'].map((format): [string, (m: string) => object] => [
      'get_message',
      (m) => ({ messageId: m, format, includeQuoted: true }),
    ]),
    ['get_thread', (_, t) => ({ threadId: t })],
    ['get_attachment', (m) => ({ attachmentId: `${m}-1` })],
    ['resolve_link', (m) => ({ messageId: m, handle: 'link:1' })],
    ['wait_for_code', () => ({ expectFrom: 'box.test', timeoutSeconds: 1 })],
    ['wait_for_email', () => ({ timeoutSeconds: 1 })],
    ['request_release', (m) => ({ messageId: m, reason: 'please' })],
    ['list_quarantine', () => ({})],
    ['forward_email', (m) => ({ messageId: m, to: [ME] })],
    ['reply_to_email', (m) => ({ messageId: m, text: 'Thanks', quote: true })],
    ['create_draft', (m) => ({ messageId: m, to: [ME], attachments: [{ attachmentId: m }] })],
    ['create_draft', (m) => ({ inReplyTo: m, text: 'Hello', quote: true })],
    ['send_email', (m) => ({ from: ME, to: [ME], subject: 'x', text: 'x', attachments: [{ attachmentId: m }] })],
    ['send_email', (m) => ({ from: ME, to: [ME], subject: 'x', text: 'x', attachments: [{ attachmentId: `${m}-1` }] })],
    ['list_drafts', () => ({})],
    ['list_outbox', () => ({})],
    ['list_queue', () => ({})],
    ['undo_changes', () => ({ since: new Date(0).toISOString() })],
  ];

  test.each(TOOLS)('is not shown it by %s %#', async (name, args) => {
    clean(await call(name, { mailbox: ME, ...args(messageId, threadId) }));
  });

  test('is informed why, and what to do', async () => {
    const { message } = (await call('get_message', { mailbox: ME, messageId })) as { message: Args };
    expect(message).toMatchObject({ body: null, withheld: 'secret_link', links: [] });
    const queried = await call('request_release', { mailbox: ME, messageId, reason: 'please' });
    expect(queried).toMatchObject({
      error: 'secret_link',
      message: expect.stringContaining('ask the person to open it') as string,
    });
    expect(await call('forward_email', { mailbox: ME, messageId, to: [ME] })).toMatchObject({ error: 'secret_link' });
    const files = { from: ME, to: [ME], subject: 'x', text: 'x', attachments: [{ attachmentId: messageId }] };
    expect(await call('send_email', files)).toMatchObject({ error: 'secret_link' });
  });

  test('is not shown it by a resource, nor by its source', async () => {
    for (const path of ['', '/source']) clean(await resource(`mail://message/${messageId}${path}?mailbox=${ME}`));
    clean(await resource(`mail://thread/${threadId}?mailbox=${ME}`));
  });

  test('finds it by no beginning of it', async () => {
    const finds = async (length: number) =>
      (await call('search_messages', { mailbox: ME, query: `${secret.slice(0, length)}*` }))['messages'];
    // As few digits may also begin a word of another letter: 127, 2026, dec.
    for (const length of [3, 4]) expect(JSON.stringify(await finds(length))).not.toContain(`"${messageId}"`);
    for (const length of [6, 8, 48]) expect(await finds(length)).toEqual([]);
    const found = await call('search_messages', { mailbox: ME, query: '"new password"' });
    expect(JSON.stringify(found['messages'])).toContain(`"${messageId}"`);
  });

  test('is not shown it over JMAP, nor a copy of it in another account', async () => {
    const client = await JmapClient.discover(base, { token });
    await programReads(client);
    const accounts = Object.entries(client.session.accounts);
    const [from = '', to = ''] = [ME, OTHER].map((name) => accounts.find(([, one]) => one.name === name)?.[0]);
    const { list } = await client.call('Mailbox/get', { accountId: to });
    const inbox = (list as { id: string; role: string }[]).find(({ role }) => role === 'inbox')?.id ?? '';
    const create = { c: { id: jmapForm(messageId), mailboxIds: { [inbox]: true } } };
    const copied = await client.call('Email/copy', { fromAccountId: from, accountId: to, create });
    const { id = '' } = (copied['created'] as Record<string, { id: string }>)['c'] ?? {};
    const read = await client.call('Email/get', { accountId: to, ids: [id], fetchAllBodyValues: true });
    expect(JSON.stringify(read)).toContain('Hidden from');
    clean(read);
  });
});

describe('the password of the mailbox, once a token was shown it', () => {
  test('opens it over JMAP and IMAP for a program', async () => {
    // The first one was chosen by a person and is never shown.
    await box.ask('rotate_email_credentials', { address: ME });
    const { imap } = (await call('reveal_email_credentials', { address: ME })) as { imap: { password: string } };
    await programReads(await JmapClient.discover(base, { user: ME, password: imap.password }));
    using reader = await MailboxReader.open(box.port('imap'), ME, imap.password);
    await reader.command('SELECT INBOX');
    for (const what of ['BODY[]', 'BODY[TEXT]', 'BODY[1]', 'BODY[]<500.2000>', 'RFC822', 'RFC822.TEXT', 'BINARY[1]']) {
      clean((await reader.command(`FETCH 1:* ${what}`)).toString('latin1'));
    }
    const shown = (await reader.command('FETCH * (RFC822.SIZE BODY[])')).toString('latin1');
    expect(shown).toContain('Subject: Reset your password');
    expect(shown.replaceAll('\r\n', '')).toContain('Hidden from programs');
    const size = Number(/RFC822\.SIZE (\d+)/.exec(shown)?.[1]);
    expect(Number(/BODY\[\] \{(\d+)\}/.exec(shown)?.[1])).toBe(size);
    expect((await reader.command(`SEARCH TEXT ${secret.slice(0, 6)}`)).toString()).toMatch(/^\* SEARCH\r\n/m);
    expect((await reader.command('SEARCH SUBJECT "your password"')).toString()).toMatch(/^\* SEARCH \d/m);
    await reader.command('COPY 1:* INBOX');
    clean((await reader.command('FETCH 1:* BODY[]')).toString('latin1'));
    await reader.command('COPY 1:* Archive');
    await reader.command('SELECT Archive');
    clean((await reader.command('FETCH 1:* BODY[]')).toString('latin1'));
  });

  test('a password that was made for a person still shows all of it', async () => {
    using reader = await MailboxReader.open(box.port('imap'), ME, phone);
    await reader.command('SELECT INBOX');
    expect(plain((await reader.command('FETCH 1:* BODY.PEEK[]')).toString('latin1'))).toContain(secret);
    expect((await reader.command(`SEARCH TEXT ${secret}`)).toString()).toMatch(/^\* SEARCH \d/m);
    const client = await JmapClient.discover(base, { user: ME, password: phone });
    const { list } = (await client.call('Email/get', { ids: [jmapForm(messageId)], fetchAllBodyValues: true })) as {
      list: Args[];
    };
    expect(JSON.stringify(list)).toContain(secret);
  });
});

async function fromOutside(mail: object): Promise<void> {
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await smtp.sendMail({ from: 'a@remote.example', to: ME, ...mail });
  smtp.close();
}

/** Tries all of JMAP that hands out octets, or makes something of them. */
async function programReads(client: JmapClient): Promise<void> {
  const all = [
    'id',
    'blobId',
    'preview',
    'subject',
    'bodyStructure',
    'bodyValues',
    'textBody',
    'attachments',
    'headers',
  ];
  const answer = await client.call('Email/get', {
    ids: [jmapForm(messageId)],
    properties: all,
    fetchAllBodyValues: true,
  });
  clean(answer);
  const [email] = answer['list'] as { blobId: string; textBody: { blobId: string }[] }[];
  const ids = [email?.blobId ?? '', email?.textBody[0]?.blobId ?? ''];
  for (const id of ids) clean((await client.download(id)).toString('latin1'));
  clean(await client.call('Blob/get', { ids, properties: ['data:asText', 'data:asBase64', 'digest:sha', 'size'] }));
  clean(await client.call('Email/parse', { blobIds: [ids[0]], fetchAllBodyValues: true }));
  const upload = await client.call('Blob/upload', {
    create: { u: { data: [{ blobId: ids[0] }, { blobId: ids[1] }], type: 'text/plain' } },
  });
  const made = (upload['created'] as Record<string, { id: string }> | null)?.['u']?.id;
  if (made !== undefined) clean((await client.download(made)).toString('latin1'));
  const { list } = (await client.call('Mailbox/get')) as { list: { id: string; role: string }[] };
  const mailboxIds = { [list.find(({ role }) => role === 'drafts')?.id ?? '']: true };
  const imported = (await client.call('Email/import', { emails: { i: { blobId: ids[0], mailboxIds } } }))['created'];
  const written = (
    await client.call('Email/set', {
      create: {
        w: {
          mailboxIds,
          from: [{ email: ME }],
          to: [{ email: ME }],
          textBody: [{ blobId: ids[1], type: 'text/plain' }],
        },
      },
    })
  )['created'];
  for (const one of [imported, written] as (Record<string, { id: string; blobId: string }> | null)[]) {
    const [copy] = Object.values(one ?? {});
    if (copy === undefined) continue;
    clean((await client.download(copy.blobId)).toString('latin1'));
    await client.call('Email/set', { destroy: [copy.id] });
  }
  const filter = { text: 'password' };
  clean(await client.call('SearchSnippet/get', { filter, emailIds: [jmapForm(messageId)] }));
  for (const text of [`${secret.slice(0, 4)}*`, secret]) {
    expect((await client.call('Email/query', { filter: { text } }))['ids']).toEqual([]);
  }
}

test('a token that only reads is given no message as it came, and all that is said of it', async () => {
  const made = await box.ask('create_agent_token', { name: 'reader', actions: ['read'] });
  const client = await JmapClient.discover(base, { token: (made as { secret: string }).secret });
  const { list } = await client.call('Email/get', { ids: null, properties: ['blobId', 'textBody'] });
  const [{ blobId, textBody } = { blobId: '', textBody: [] }] = list as {
    blobId: string;
    textBody: { blobId: string }[];
  }[];
  await expect(client.download(blobId)).rejects.toThrow(/403 .*manage/);
  expect((await client.call('Blob/get', { ids: [blobId] }))['notFound']).toEqual([blobId]);
  expect((await client.call('Email/parse', { blobIds: [blobId] }))['notFound']).toEqual([blobId]);
  expect((await client.download(textBody[0]?.blobId ?? '')).length).toBeGreaterThan(0);
});

describe('letters that go on', () => {
  const leaving = async (): Promise<string> => JSON.stringify(await box.ask('list_queue', {}));

  test('not by a forward that a token set; by the same one once a person sets it', async () => {
    const pair = { sourceAddress: ME, destinationAddress: 'loot@elsewhere.example', keepLocalCopy: true };
    expect(await call('set_email_forwarder', pair)).toHaveProperty('forwarder');
    await reset();
    await fromOutside({ subject: 'Fwd: password', text: `http://box.test/auth/reset?token=${secret}` });
    expect(await leaving()).not.toContain('loot@elsewhere.example');
    await box.ask('set_email_forwarder', pair);
    await reset();
    const { items } = (await box.ask('list_queue', {})) as { items: { queueId: string; to: string }[] };
    const queueId = items.find(({ to }) => to === 'loot@elsewhere.example')?.queueId;
    const queued = await call('get_queue_item', { queueId });
    expect(JSON.stringify(queued)).toContain('Hidden from');
    clean(queued);
    expect(plain(JSON.stringify(await box.ask('get_queue_item', { queueId })))).toContain(secret);
    await box.ask('remove_email_forwarder', { sourceAddress: ME, destinationAddress: 'loot@elsewhere.example' });
  });

  test('that are cut by tags or written in UTF-7 are hidden, and no handle resolves to them', async () => {
    const token = '5e'.repeat(24);
    const cut = `<p>Open http://box.te<b title=">">st</b>/approve?id=out_1&amp;user=usr_1&amp;to<i title=">"></i>ken=${token}</p>`;
    const utf7 = (text: string) => {
      const octets = Buffer.from(text, 'utf16le').swap16();
      return `+${octets.toString('base64').replace(/=+$/, '')}-`;
    };
    const link = `http://box.test/approve?id=out_1&user=usr_1&token=${token}`;
    await fromOutside({ subject: 'cut', html: cut });
    const raw = `From: a@far.example\r\nTo: ${ME}\r\nSubject: utf-7\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-7\r\n\r\n${utf7(link)}\r\n`;
    await fromOutside({ envelope: { from: 'a@far.example', to: ME }, raw });
    const { messages } = (await call('list_messages', { mailbox: ME, limit: 2 })) as { messages: { id: string }[] };
    expect(messages).toHaveLength(2);
    for (const { id } of messages) {
      const { message } = (await call('get_message', { mailbox: ME, messageId: id })) as { message: Args };
      expect(message).toMatchObject({ body: null, withheld: 'secret_link' });
      const resolved = await call('resolve_link', { mailbox: ME, messageId: id, handle: 'link:1' });
      expect(resolved).toMatchObject({ error: 'secret_link' });
      expect(JSON.stringify([message, resolved])).not.toContain(token);
    }
  });

  test('that come back from outside are as hidden as those of the box', async () => {
    const link = `http://box.test/approve?id=out_1&user=usr_1&token=${'5e'.repeat(24)}`;
    const html = `<a href="https://safe.example/?url=${encodeURIComponent(link)}">Decide</a>`;
    const attachments = [{ filename: 'was.eml', content: `Subject: x\r\n\r\n${link}`, contentType: 'message/rfc822' }];
    await fromOutside({ subject: 'Fwd: one', html });
    await fromOutside({ subject: 'Fwd: two', text: 'see', attachments });
    const { messages } = (await call('list_messages', { mailbox: ME, limit: 2 })) as { messages: { id: string }[] };
    for (const { id } of messages) {
      const { message } = (await call('get_message', { mailbox: ME, messageId: id })) as { message: Args };
      expect(message).toMatchObject({ body: null, withheld: 'secret_link' });
      expect(await resource(`mail://message/${id}/source?mailbox=${ME}`)).toContain('secret_link');
    }
  });

  test('what a person puts into a folder is hidden there', async () => {
    using reader = await MailboxReader.open(box.port('imap'), OTHER, PASSWORD);
    const link = `http://box.test/auth/reset?token=${secret}`;
    const answer = await reader.append('Drafts', Buffer.from(`From: other@box.test\r\nSubject: d\r\n\r\n${link}\r\n`));
    expect(answer).toContain('OK');
    const mailbox = OTHER;
    const { messages } = (await call('list_messages', { mailbox, folder: 'drafts' })) as { messages: { id: string }[] };
    const draftId = messages[0]?.id ?? '';
    clean(await call('get_message', { mailbox, messageId: draftId }));
    const { draft } = (await call('get_draft', { mailbox, draftId })) as { draft: Args };
    clean(draft);
    const revision = draft['revision'];
    expect(await call('update_draft', { mailbox, draftId, revision, subject: 'e' })).toHaveProperty(
      'error',
      'secret_link',
    );
    expect(await call('send_draft', { mailbox, draftId, revision })).toHaveProperty('error', 'secret_link');
  });
});

test('no person releases such a letter by mistake, and the page says why', async () => {
  const { mailboxes } = (await box.ask('list_emails')) as { mailboxes: { id: string; address: string }[] };
  const id = mailboxes.find(({ address }) => address === ME)?.id ?? '';
  const path = `/o/org_1/mailboxes/${id}/quarantine`;
  const page = (await owner.get(path)).text;
  expect(page).toContain('Contains a link that signs in or approves as you.');
  expect(page).not.toContain('Release');
  await owner.act(path, 'release', { messageId });
  const { message } = await call('get_message', { mailbox: ME, messageId });
  expect(message).toMatchObject({ body: null, withheld: 'secret_link' });
});
