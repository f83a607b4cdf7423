import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { rowId } from '../../../src/core/ids.ts';
import { TextReader } from '../../../src/reading/worker/text-reader.ts';
import { filterMail, putMail } from '../../support/put-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

/** Never answers: to it every text over a few KiB takes too long. */
const THREAD = new URL('data:text/javascript,import "node:worker_threads"; setInterval(() => {}, 1000)');

let tenants: Tenants;
let texts: TextReader;
let mailbox: string;
let at: number;
beforeAll(async () => {
  texts = new TextReader({ log: quiet, longestMs: 20, thread: THREAD });
  tenants = await twoTenants({ texts }, [filterMail]);
  mailbox = tenants.a.main.mailboxId;
  at = tenants.clock.now;
});
afterAll(async () => {
  await tenants[Symbol.asyncDispose]();
  await texts[Symbol.asyncDispose]();
});

const HEADER = 'From: <x@y.example>\nTo: <me@alpha-main.test>\n';
const put = (fields: string, text: string): Promise<string> => {
  const account = rowId('mailbox', mailbox) ?? 0;
  return putMail(
    tenants.world.store,
    { account, receivedAt: (at += 1000), trust: {} },
    `${HEADER}${fields}\n\n${text}\n`,
  );
};
const costly = (fields = 'Subject: s'): Promise<string> =>
  put(`${fields}\nContent-Type: text/html`, `<p hidden>GHOST</p>seen${'<b></b>'.repeat(5_000)}`);
const ask = (name: string, args: object): Promise<Record<string, unknown>> => tenants.do(name, { mailbox, ...args });
const refused = (name: string, args: object): Promise<unknown> => tenants.try(name, { mailbox, ...args });

describe('a message that takes too long to read', () => {
  test('is quarantined, even after a release by a person', async () => {
    const messageId = await costly();
    const withheld = { message: { body: null, withheld: 'content_quarantined', links: [] } };
    expect(await ask('get_message', { messageId })).toMatchObject(withheld);
    const { caller } = tenants.a;
    const person = { ...caller, kind: 'user', actor: 'usr_1', way: 'portal' } as const;
    await tenants.do('release_message', { mailbox, messageId }, person);
    for (const format of ['text', 'markdown', 'html_sanitized', 'facts']) {
      expect(await ask('get_message', { messageId, format })).toMatchObject(withheld);
    }
  });

  test('shows no text in a list, and does not block others of its thread', async () => {
    const first = await put('Subject: talk\nMessage-ID: <one@y.example>', 'Hello');
    await costly('Subject: Re: talk\nIn-Reply-To: <one@y.example>');
    expect(await ask('list_messages', { limit: 1 })).toMatchObject({ messages: [{ untrusted: { snippet: '' } }] });
    const { thread } = await ask('get_thread', { threadId: `t${first.slice(1)}` });
    expect(thread).toMatchObject({
      messages: [{ body: { untrusted: true } }, { body: null, withheld: 'content_quarantined', truncated: true }],
    });
  });

  test('cannot be quoted or forwarded, and its files are not read', async () => {
    const messageId = await costly();
    expect(await refused('forward_email', { messageId, to: ['a@b.example'] })).toMatchObject({
      refusal: { error: 'content_quarantined' },
    });
    expect(await refused('resolve_link', { messageId, handle: 'link:1' })).toMatchObject({
      refusal: { error: 'not_found' },
    });
    await ask('reply_to_email', { messageId, text: 'Please write shorter.' });
    const { messages } = await ask('list_messages', { folder: 'sent', limit: 1 });
    const [{ id = '' } = {}] = messages as { id?: string }[];
    const { message } = await ask('get_message', { messageId: id, includeQuoted: true });
    expect(message).toMatchObject({
      body: { text: expect.stringMatching(/\| Please write shorter\.$/) },
      quotedChars: 0,
    });
    const file = await put(
      'Subject: f\nContent-Type: multipart/mixed; boundary=b',
      `--b\n\nsee file\n--b\nContent-Type: text/html; name=a.html\nContent-Disposition: attachment\n\n${'<b>GHOST</b>'.repeat(5_000)}\n--b--`,
    );
    expect(await ask('get_attachment', { attachmentId: `${file}-2` })).toMatchObject({ text: null });
  });
});
