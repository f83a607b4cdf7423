import { jmapForm } from '../../src/core/message-ids.ts';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callServer } from '../../src/operator-socket/client.ts';
import type { Box } from '../support/box.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { http, outcome, rpc, tool } from '../support/mcp.ts';
import { leads, type Owned, portalBox } from '../support/visitor.ts';

type Answer = Record<string, unknown>;
interface Canary {
  canaryId: string;
  messageId: string;
  address: string;
  honeytoken: string;
}

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const ME = 'anna@acme.test';
const run = promisify(execFile);

let box: Box;
let base: string;
let acme: Owned;
let other: Owned;
let mailboxId: string;
let password: string;
let page: string;
let last = 0;

vi.setConfig({ testTimeout: 240_000 });

beforeAll(async () => {
  ({ box, base, acme, other } = await portalBox());
  const { mailboxes } = await org('list_emails', {});
  mailboxId = (mailboxes as { id: string; address: string }[]).find(({ address }) => address === ME)?.id ?? '';
  page = `${acme.path}/mailboxes/${mailboxId}/canaries`;
  password = String((await org('rotate_email_credentials', { mailboxId, reveal: true }))['password']);
  await org('save_agent_policy', { mailboxId, preset: 'custom' });
}, 180_000);
afterAll(() => box[Symbol.asyncDispose]());

/** Something in the organization, as a person does it. */
async function org(name: string, input: object): Promise<Answer> {
  const done = await callServer(box.dataDir, name, input, acme.id);
  if (done.kind !== 'done') throw new Error(`${name}: ${done.message}`);
  return done.result as Answer;
}

async function mint(): Promise<{ id: string; secret: string }> {
  const made = await org('create_agent_token', { name: `agent ${++last}`, actions: ['read', 'manage'] });
  return { secret: String(made['secret']), id: (made['token'] as { id: string }).id };
}

async function plant(over: object = {}): Promise<Canary> {
  const { canary, honeytoken } = await org('plant_canary', { mailbox: mailboxId, label: `canary ${++last}`, ...over });
  return { ...(canary as Canary), honeytoken: String(honeytoken) };
}

const remove = ({ canaryId }: Pick<Canary, 'canaryId'>): Promise<Answer> => org('remove_canary', { canaryId });

async function modeOf(id: string): Promise<string | undefined> {
  const { agents } = await org('list_agents', {});
  return (agents as { tokenId: string; mode: string }[]).find(({ tokenId }) => tokenId === id)?.mode;
}

/** Trips on the page of a canary. */
async function tripsOf({ canaryId }: Canary): Promise<Answer[]> {
  const { canaries } = await org('list_canaries', { mailbox: mailboxId });
  return (canaries as (Canary & { trips: Answer[] })[]).find((one) => one.canaryId === canaryId)?.trips ?? [];
}

const overMcp = async (token: string, name: string, args: object): Promise<Answer> =>
  outcome(await rpc(base, 'tools/call', { name, arguments: args }, { authorization: `Bearer ${token}` }));

async function jmap(authorization: string, name: string, args: object): Promise<{ status: number; text: string }> {
  const headers = { authorization, 'content-type': 'application/json' };
  const accountId = await accountOf(authorization);
  const using = ['core', 'mail'].map((one) => `urn:ietf:params:jmap:${one}`);
  const body = JSON.stringify({ using, methodCalls: [[name, { accountId, ...args }, 'c']] });
  const answer = await fetch(`${base}/jmap/api`, { method: 'POST', headers, body });
  return { status: answer.status, text: await answer.text() };
}

async function accountOf(authorization: string): Promise<string> {
  const session = await fetch(`${base}/.well-known/jmap`, { headers: { authorization } });
  const { accounts } = (await session.json()) as { accounts: Record<string, { name: string }> };
  return Object.entries(accounts).find(([, { name }]) => name === ME)?.[0] ?? '';
}

async function submit(pass: string, mail: object): Promise<string> {
  const smtp = createTransport({
    host: '127.0.0.1',
    port: box.port('submission'),
    ignoreTLS: true,
    auth: { user: ME, pass },
  });
  try {
    await smtp.sendMail({ from: ME, to: 'you@elsewhere.example', subject: 'Hi', text: 'Hello', ...mail });
    return 'sent';
  } catch (error) {
    return (error as Error).message;
  } finally {
    smtp.close();
  }
}

const basic = (): string => `Basic ${Buffer.from(`${ME}:${password}`).toString('base64')}`;

describe('a person', () => {
  test('plants one on the page of the mailbox, sees who went there, and removes it', async () => {
    const planted = await acme.owner.act(page, 'plant', {
      label: 'the <b>first</b>',
      kind: 'message',
      story: 'recovery',
    });
    expect(leads(planted)).toBe(`303 ${page}?done=planted`);
    const { canaries } = await org('list_canaries', { mailbox: mailboxId });
    const [canary] = canaries as Canary[];
    const { secret, id } = await mint();
    await overMcp(secret, 'get_message', { mailbox: ME, messageId: canary?.messageId });
    const { text } = await acme.owner.get(page);
    expect(text).toContain('the &lt;b&gt;first');
    expect(text).toContain(`<code>${id}</code>`);
    for (const path of [acme.path, `${acme.path}/agents`]) {
      expect((await acme.owner.get(path)).text).toContain('A canary was triggered');
    }
    const settled = await acme.owner.act(page, 'settle', { canaryId: canary?.canaryId ?? '' });
    expect(leads(settled)).toBe(`303 ${page}?done=settled`);
    expect((await acme.owner.get(acme.path)).text).not.toContain('A canary was triggered');
    expect((await other.owner.get(page)).status).toBe(404);
    const removed = await acme.owner.act(page, 'remove', { canaryId: canary?.canaryId ?? '' });
    expect(leads(removed)).toBe(`303 ${page}?done=removed`);
    expect((await acme.owner.get(page)).text).toContain('No canaries');
  });

  test('is shown a bare one once, and does all of it by the command line', async () => {
    const shown = await acme.owner.act(page, 'plant', { label: 'bare', kind: 'secret', story: 'payments' });
    expect(shown.text).toMatch(/sk_live_\w{32}/);
    const cli = async (...words: string[]): Promise<string> =>
      (await run(COMMAND, ['canary', ...words, '--org', acme.id], { env: box.env })).stdout;
    const printed = await cli('plant', ME, 'by hand', 'address');
    const [id = ''] = /can_\d+/.exec(printed) ?? [];
    expect(printed).toMatch(/address +\S+@acme\.test/);
    expect(await cli('list', ME)).toContain('by hand');
    expect(await cli('settle', id)).toContain('re-armed');
    expect(await cli('remove', id)).toContain('is deleted');
    expect(await cli('list', ME)).not.toContain('by hand');
  });

  test('of another organization, and every token, finds none', async () => {
    const { canaryId } = await plant();
    for (const name of ['settle_canary', 'remove_canary']) {
      const foreign = await callServer(box.dataDir, name, { canaryId }, other.id);
      const missing = await callServer(box.dataDir, name, { canaryId: 'can_999' }, other.id);
      expect(foreign).toEqual(missing);
    }
    const { secret } = await mint();
    expect((await tool(base, 'list_canaries', { mailbox: ME }, secret)).status).toBe(403);
    expect(JSON.stringify((await tool(base, 'list_audit_events', {}, secret)).body)).not.toContain('canary');
    await remove({ canaryId });
  });
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('a token', () => {
  test('over MCP lists it, opens it, and is answered nothing more; the owner is informed, once, kill -9 or not', async () => {
    const canary = await plant();
    const { secret, id } = await mint();
    const listed = await overMcp(secret, 'list_messages', { mailbox: ME });
    expect(JSON.stringify(listed)).toContain(`"${canary.messageId}"`);
    expect(await modeOf(id)).toBe('normal');
    const read = await overMcp(secret, 'get_message', { mailbox: ME, messageId: canary.messageId });
    expect(JSON.stringify(read)).toContain(canary.honeytoken);
    await box.kill();
    await box.start();
    base = `http://127.0.0.1:${box.port('http')}`;
    const frozen = await overMcp(secret, 'list_messages', { mailbox: ME });
    expect(frozen).toMatchObject({ error: 'action_not_allowed', mode: 'frozen' });
    expect(JSON.stringify(frozen)).not.toContain('canary');
    await box.logged(({ msg, events }) => msg === 'owners notified of a tripped canary' && events === 1, 'the letter');
    expect(await tripsOf(canary)).toMatchObject([{ by: id, door: 'mcp get_message', what: 'opened' }]);
    const { queue } = (await box.ask('list_box_queue')) as { queue: { to: string }[] };
    expect(queue.filter(({ to }) => to === 'ada@example.test').length).toBeGreaterThan(0);
    await remove(canary);
  });

  test('over JMAP is let list it, and stopped where it opens it, by text or by octets', async () => {
    const canary = await plant();
    const { honeytoken, messageId } = canary;
    const text = { ids: [jmapForm(messageId)], properties: ['bodyValues'], fetchTextBodyValues: true };
    const one = await mint();
    const header = {
      ids: [jmapForm(messageId)],
      properties: ['subject', 'preview', 'from', 'textBody', 'bodyStructure'],
    };
    const list = await jmap(`Bearer ${one.secret}`, 'Email/get', header);
    expect(list.text).toContain('emergency');
    expect(list.text).not.toContain(honeytoken);
    expect(await modeOf(one.id)).toBe('normal');
    expect((await jmap(`Bearer ${one.secret}`, 'Email/get', text)).text).toContain(honeytoken);
    expect(await modeOf(one.id)).toBe('frozen');

    const two = await mint();
    const account = await accountOf(`Bearer ${two.secret}`);
    const blob = `${base}/jmap/download/${account}/${jmapForm(messageId)}/x.eml`;
    expect((await http('GET', blob, bearer(two.secret))).text).toContain(honeytoken);
    expect(await modeOf(two.id)).toBe('frozen');
    expect((await http('GET', blob, bearer(two.secret))).status).toBe(403);
    expect(await tripsOf(canary)).toHaveLength(2);
    await remove(canary);
  });

  test('is stopped by a secret that a person put into another message, in a text, in a snippet, in octets', async () => {
    const canary = await plant({ kind: 'secret' });
    const text = `${'Many words of no interest stand before. '.repeat(20)}\r\nthe word is ${canary.honeytoken}\r\n`;
    using imap = await MailboxReader.open(box.port('imap'), ME, password);
    const done = await imap.append('INBOX', Buffer.from(`From: ${ME}\r\nSubject: Words\r\n\r\n${text}`));
    expect(done).toContain('OK');
    const { messages } = await org('list_messages', { mailbox: ME, limit: 1 });
    const [{ id: messageId } = { id: '' }] = messages as { id: string }[];
    const ways: ((token: string) => Promise<unknown>)[] = [
      (token) => overMcp(token, 'get_message', { mailbox: ME, messageId }),
      (token) => tool(base, 'get_thread', { mailbox: ME, threadId: `t${messageId.slice(1)}` }, token),
      (token) =>
        jmap(`Bearer ${token}`, 'Email/get', {
          ids: [jmapForm(messageId)],
          fetchAllBodyValues: true,
          properties: ['bodyValues'],
        }),
      (token) =>
        jmap(`Bearer ${token}`, 'SearchSnippet/get', {
          filter: { body: '"the word is"' },
          emailIds: [jmapForm(messageId)],
        }),
      async (token) => {
        const account = await accountOf(`Bearer ${token}`);
        return http('GET', `${base}/jmap/download/${account}/${jmapForm(messageId)}/x.eml`, bearer(token));
      },
    ];
    for (const [i, way] of ways.entries()) {
      const { id, secret } = await mint();
      await overMcp(secret, 'list_messages', { mailbox: ME });
      expect(await modeOf(id), String(i)).toBe('normal');
      await way(secret);
      expect(await modeOf(id), String(i)).toBe('frozen');
    }
    await remove(canary);
  });
});

describe('the password of a mailbox under a policy', () => {
  test('copies it by IMAP freely, and is stopped when it reads it: all tokens that open the mailbox with it', async () => {
    const canary = await plant();
    const { id } = await mint();
    using imap = await MailboxReader.open(box.port('imap'), ME, password);
    await imap.command('SELECT INBOX');
    const copied = await imap.command('FETCH 1:* (UID BODY.PEEK[])');
    expect(copied.toString('latin1')).toContain(canary.honeytoken);
    await imap.command('FETCH 1:* (BODY[HEADER])');
    expect(await modeOf(id)).toBe('normal');
    expect(await submit(password, {})).toBe('sent');
    await imap.command('FETCH 1:* BODY[TEXT]');
    expect(await modeOf(id)).toBe('frozen');
    expect(await tripsOf(canary)).toMatchObject([{ by: mailboxId, door: 'imap', what: 'opened' }]);
    expect(await submit(password, {})).toContain(
      'Invalid login: 454 4.7.0 This password belongs to a frozen agent. A person can unfreeze it in the portal',
    );
    await org('settle_canary', { canaryId: canary.canaryId });
    expect(await submit(password, {})).toBe('sent');
    await remove(canary);
  });

  test('sends it by SMTP nowhere, in no coding, nor anything to its address; a person’s password does', async () => {
    const canary = await plant();
    const { id } = await mint();
    const { password: own } = await org('create_app_password', { mailboxId, name: 'phone', person: true });
    const attachments = [{ filename: 'notes.txt', content: `secret: ${canary.honeytoken}` }];
    expect(await submit(String(own), { attachments })).toBe('sent');
    expect(await tripsOf(canary)).toEqual([]);
    const refused = await submit(password, { attachments });
    expect(refused).toContain('The agent is frozen and sends nothing');
    expect(refused).not.toMatch(/canary|secret/i);
    expect(await modeOf(id)).toBe('frozen');
    const trips = [{ by: mailboxId, door: 'smtp', what: 'sent', addresses: ['you@elsewhere.example'] }];
    expect(await tripsOf(canary)).toMatchObject(trips);
    await org('settle_canary', { canaryId: canary.canaryId });
    expect(await submit(password, { to: [canary.address, 'you@elsewhere.example'] })).toContain('frozen');
    await remove(canary);
  });

  test('over JMAP downloads it as programs do, and is stopped when it asks for its text, or a snippet of it', async () => {
    const canary = await plant();
    const account = await accountOf(basic());
    const blob = `${base}/jmap/download/${account}/${jmapForm(canary.messageId)}/x.eml`;
    expect((await http('GET', blob, { authorization: basic() })).text).toContain(canary.honeytoken);
    const snippet = (body: string) => ({ filter: { body }, emailIds: [jmapForm(canary.messageId)] });
    expect((await jmap(basic(), 'SearchSnippet/get', snippet('keeping'))).text).toContain('<mark>Keeping</mark> this');
    expect(await tripsOf(canary)).toEqual([]);
    const opened = { by: mailboxId, door: 'jmap', what: 'opened', settledAt: null };
    expect((await jmap(basic(), 'SearchSnippet/get', snippet('login'))).text).toContain(canary.honeytoken);
    expect(await tripsOf(canary)).toMatchObject([opened]);
    await org('settle_canary', { canaryId: canary.canaryId });
    await jmap(basic(), 'Email/get', {
      ids: [jmapForm(canary.messageId)],
      properties: ['bodyValues'],
      fetchTextBodyValues: true,
    });
    expect(await tripsOf(canary)).toMatchObject([opened]);
    await remove(canary);
  });
});

test('mail from outside to the address of one arrives, and the owners are informed that it got out', async () => {
  const canary = await plant({ kind: 'address' });
  const { id } = await mint();
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  await smtp.sendMail({ from: 'x@remote.example', to: canary.address, subject: 'You were found', text: 'Hello' });
  smtp.close();
  const { messages } = await org('search_messages', { mailbox: ME, query: 'subject:found' });
  expect(messages).toHaveLength(1);
  const trips = [{ by: '', door: 'smtp', what: 'written-to', addresses: ['x@remote.example'] }];
  expect(await tripsOf(canary)).toMatchObject(trips);
  expect(await modeOf(id)).toBe('normal');

  // A reply to all leaves out the canary's address: the agent did not choose it.
  const [{ id: messageId } = { id: '' }] = messages as { id: string }[];
  const { secret } = await mint();
  const answer = await overMcp(secret, 'reply_to_email', { mailbox: ME, messageId, text: 'Hello', replyAll: true });
  expect((answer['envelope'] as { rcptTo: string[] }).rcptTo).toEqual(['x@remote.example']);
  await remove(canary);
});
