import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowId } from '../../../src/core/ids.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { filterMail, putMail } from '../../support/put-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
let mailbox: string;
let account: number;
let person: Caller;
let at: number;
beforeAll(async () => {
  tenants = await twoTenants({}, [filterMail]);
  mailbox = tenants.a.main.mailboxId;
  account = rowId('mailbox', mailbox) ?? 0;
  at = tenants.clock.now;
  const { caller } = tenants.a;
  person = { ...caller, kind: 'user', actor: 'usr_1', way: 'portal' };
});
afterAll(() => tenants[Symbol.asyncDispose]());

const HIDDEN = 'do this and that '.repeat(200);
const page = (subject: string): string =>
  `From: <x@y.example>\nSubject: ${subject}\nContent-Type: text/html\n\n<div style="display:none">${HIDDEN}</div>seen`;
const findings = [{ rule: 'hidden-text', score: 2.5, why: 'much' }];

async function put(text: string, more: Partial<Parameters<typeof putMail>[1]> = { trust: {} }): Promise<string> {
  return putMail(tenants.world.store, { account, receivedAt: (at += 1000), findings, ...more }, text);
}
type Item = { id: string; state: string; untrusted: { subject: string; reason: string } };
const items = async (more: object = {}): Promise<Item[]> =>
  (await tenants.do('list_quarantine', { mailbox, ...more }))['items'] as Item[];
const stateOf = async (id: string): Promise<string | undefined> => (await items()).find((one) => one.id === id)?.state;
const body = async (messageId: string): Promise<unknown> => {
  const { message } = await tenants.do('get_message', { mailbox, messageId });
  return (message as { body: unknown }).body;
};

describe('a quarantined message', () => {
  test('is listed, requested by an agent, and shown after a person releases it', async () => {
    const id = await put(page('trick'));
    expect(await body(id)).toBeNull();
    expect(await stateOf(id)).toBe('withheld');
    const said = await tenants.do('request_release', { mailbox, messageId: id, reason: 'it has the invoice' });
    expect(said).toEqual({
      requested: true,
      releaseUrl: `http://127.0.0.1:8080/o/${tenants.a.main.organizationId}/mailboxes/${mailbox}/quarantine`,
    });
    expect((await items())[0]).toMatchObject({ id, state: 'requested', untrusted: { reason: 'it has the invoice' } });
    expect(await body(id)).toBeNull();
    await tenants.do('release_message', { mailbox, messageId: id }, person);
    expect(await body(id)).toMatchObject({ untrusted: true, removed: { hiddenNodes: 1 } });
    expect(await stateOf(id)).toBe('released');
    expect(await tenants.try('request_release', { mailbox, messageId: id, reason: 'x' })).toMatchObject({
      refusal: { error: 'conflict' },
    });
    const { thread } = await tenants.do('get_thread', { mailbox, threadId: `t${id.slice(1)}` });
    expect(thread).toMatchObject({ messages: [{ body: { untrusted: true } }] });
    await tenants.do('release_message', { mailbox, messageId: id, release: false }, person);
    expect(await body(id)).toBeNull();
    expect(await stateOf(id)).toBe('withheld');
  });

  test('is never released by a token, and there is no tool for it', async () => {
    const id = await put(page('token'));
    expect(await tenants.try('release_message', { mailbox, messageId: id })).toMatchObject({
      refusal: { error: 'action_not_allowed', message: expect.stringContaining('people') },
    });
    expect(await body(id)).toBeNull();
    expect(CATALOGUE.map(({ name }) => name)).not.toContain('release_message');
  });

  test('may be a rejected message stored for review', async () => {
    const id = await put('From: <x@y.example>\nSubject: refused\n\nclick this\n', {
      trust: { verdict: 'quarantined' },
    });
    expect(await body(id)).toBeNull();
    expect(await tenants.do('get_message', { mailbox, messageId: id })).toMatchObject({
      message: { withheld: 'content_quarantined' },
    });
    expect(await stateOf(id)).toBe('withheld');
  });

  test('is not disclosed by attachments, replies, drafts or forwards', async () => {
    const mixed = 'Content-Type: multipart/mixed; boundary=x\n\n--x\n\nthe secret word is swordfish';
    const file = '--x\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nswordfish\n--x--\n';
    const messageId = await put(
      `From: <x@y.example>\nTo: <${tenants.a.main.address}>\nSubject: refused\n${mixed}\n${file}`,
      {
        trust: { verdict: 'quarantined' },
      },
    );
    const { message } = await tenants.do('get_message', { mailbox, messageId });
    const [{ id: attachmentId } = { id: '' }] = (message as { attachments: { id: string }[] }).attachments;
    for (const mode of ['text', 'link']) {
      expect(await tenants.try('get_attachment', { mailbox, attachmentId, mode })).toMatchObject({
        refusal: { error: 'content_quarantined' },
      });
    }
    expect(await tenants.try('forward_email', { mailbox, messageId, to: ['me@else.example'] })).toMatchObject({
      refusal: { error: 'content_quarantined' },
    });
    const { draft } = await tenants.do('create_draft', { mailbox, inReplyTo: messageId, text: 'hello' });
    const drafted = { mailbox, messageId: (draft as { id: string }).id, includeQuoted: true };
    expect(JSON.stringify(await tenants.do('get_message', drafted))).not.toContain('swordfish');
    await tenants.do('release_message', { mailbox, messageId }, person);
    expect(await tenants.do('get_attachment', { mailbox, attachmentId })).toMatchObject({ text: { untrusted: true } });
    const { draft: quoting } = await tenants.do('create_draft', { mailbox, inReplyTo: messageId, text: 'again' });
    const quoted = { mailbox, messageId: (quoting as { id: string }).id, includeQuoted: true };
    expect(JSON.stringify(await tenants.do('get_message', quoted))).toContain('swordfish');
  });

  test('can be requested, even if nothing was found on arrival', async () => {
    const id = await put(page('unnoticed'), { trust: {}, findings: [] });
    expect(await stateOf(id)).toBeUndefined();
    await tenants.do('request_release', { mailbox, messageId: id, reason: 'x' });
    expect(await stateOf(id)).toBe('requested');
  });
});

test('a visible message is not listed and cannot be requested', async () => {
  const id = await put('From: <x@y.example>\nSubject: plain\n\nhello\n');
  expect(await stateOf(id)).toBeUndefined();
  expect(await tenants.try('request_release', { mailbox, messageId: id, reason: 'x' })).toMatchObject({
    refusal: { error: 'conflict', message: expect.stringContaining('get_message') },
  });
});

test('listing them taints the agent', async () => {
  const { caller, main } = tenants.b;
  await put(page('subject'), { account: rowId('mailbox', main.mailboxId) ?? 0, trust: {} });
  const exposed = async (): Promise<unknown> =>
    ((await tenants.do('whoami', {}, caller))['agent'] as { exposed: boolean }).exposed;
  expect(await exposed()).toBe(false);
  await tenants.do('list_quarantine', { mailbox: main.mailboxId }, caller);
  expect(await exposed()).toBe(true);
});

test('pages cover all of them once', async () => {
  for (let i = 0; i < 5; i++) await put(page(`page ${i}`));
  const all = (await items()).map(({ id }) => id);
  const seen: string[] = [];
  let cursor: string | null | undefined;
  do {
    const args = { mailbox, limit: 2, ...(typeof cursor === 'string' && { cursor }) };
    const said = (await tenants.do('list_quarantine', args)) as unknown as { items: Item[]; nextCursor: string | null };
    seen.push(...said.items.map(({ id }) => id));
    cursor = said.nextCursor;
  } while (cursor !== null);
  expect(seen).toEqual(all);
  expect(all.length).toBeGreaterThan(5);
});

test('pending release requests are limited', { timeout: 240_000 }, async () => {
  const ids: string[] = [];
  for (let i = 0; i < 505; i++) ids.push(await put(page(`many ${i}`)));
  const queried = [];
  for (const messageId of ids) queried.push(await tenants.try('request_release', { mailbox, messageId, reason: 'x' }));
  const refused = queried.filter((one) => one.kind === 'refused');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.every((one) => one.refusal.error === 'conflict')).toBe(true);
  expect(queried.filter((one) => one.kind === 'done').length).toBeLessThanOrEqual(500);
});
