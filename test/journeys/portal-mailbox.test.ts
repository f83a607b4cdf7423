import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tool } from '../support/mcp.ts';
import { leads, type PortalBox, portalBox } from '../support/visitor.ts';

let portal: PortalBox;
let path: string;

beforeAll(async () => {
  portal = await portalBox();
  path = `${portal.acme.path}/mailboxes/mbx_2`;
});
afterAll(() => portal.box[Symbol.asyncDispose]());

const call = async (name: string, input: object) => (await tool(portal.base, name, input, portal.acme.token)).body;

/** Text of a page without markup and repeated spaces. */
const plain = (text: string): string => text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');

async function idsIn(folder: string): Promise<string[]> {
  const { messages } = (await call('list_messages', { mailbox: 'mbx_2', folder })) as { messages?: { id: string }[] };
  return (messages ?? []).map(({ id }) => id);
}

describe('the pages of a mailbox', () => {
  test('link to each other, and each says which one it is', async () => {
    for (const tab of ['', '/access', '/addresses', '/connections', '/junk', '/quarantine', '/deleted', '/canaries']) {
      const { status, text } = await portal.acme.owner.get(`${path}${tab}`);
      expect([tab, status]).toEqual([tab, 200]);
      expect(text).toContain(`<a href="${path}${tab}" aria-current="page">`);
      expect(text).toContain(`<a href="${path}/junk"`);
    }
    expect((await portal.other.owner.get(`${portal.other.path}/mailboxes/mbx_2/junk`)).status).toBe(404);
  });

  test('junk is reviewed: checked messages go to the inbox or the trash, and none checked changes nothing', async () => {
    const transport = createTransport({ host: '127.0.0.1', port: portal.box.port('smtp'), ignoreTLS: true });
    for (const subject of ['first', 'second', 'third']) {
      await transport.sendMail({ from: 'x@remote.example', to: 'anna@acme.test', subject, text: subject });
    }
    transport.close();
    await expect.poll(async () => [...(await idsIn('inbox')), ...(await idsIn('junk'))].length).toBe(3);
    const inbox = await idsIn('inbox');
    if (inbox.length > 0) await call('update_message', { mailbox: 'mbx_2', messageIds: inbox, folder: 'junk' });
    const junk = await idsIn('junk');
    const { text } = await portal.acme.owner.get(`${path}/junk`);
    for (const id of junk) expect(text).toContain(`value="${id}"`);
    expect(text).toContain('second');
    const { owner } = portal.acme;
    const none = await owner.act(`${path}/junk`, 'release');
    expect([none.status, none.text.includes('select at least one message')]).toEqual([422, true]);
    const two = junk.slice(0, 2);
    expect(leads(await owner.act(`${path}/junk`, 'release', { messageIds: two }))).toBe(
      `303 ${path}/junk?done=released`,
    );
    expect((await idsIn('inbox')).toSorted()).toEqual(two.toSorted());
    expect(leads(await owner.act(`${path}/junk`, 'delete', { messageIds: junk.slice(2) }))).toBe(
      `303 ${path}/junk?done=deleted`,
    );
    expect([await idsIn('junk'), await idsIn('trash')]).toEqual([[], junk.slice(2)]);
    const { text: trace } = await owner.get(`${portal.acme.path}/trace?q=${two[0]}`);
    const timeline = plain(trace.slice(trace.indexOf('class="timeline"')));
    expect(timeline).toMatch(/Accepted.*Moved anna@acme.test [^.]*From Junk to INBOX\./);
    const foreign = await portal.other.owner.get(`${portal.other.path}/trace?q=${two[0]}`);
    expect(foreign.text).toContain('No message found');
  });
});

describe('the junk of all mailboxes', () => {
  test('is on one page, newest first, and is released in each mailbox at once; other organizations see none', async () => {
    const { owner, path: base } = portal.acme;
    const transport = createTransport({ host: '127.0.0.1', port: portal.box.port('smtp'), ignoreTLS: true });
    const html = '<a href="http://192.0.2.7/in">https://bank.example/login</a> Verify your account.';
    const from = { name: 'service@bank.example', address: 'win@casino.example' };
    for (const [to, subject] of [
      ['anna@acme.test', 'one'],
      ['bert@acme.test', 'two'],
      ['anna@acme.test', 'three'],
    ] as const) {
      await transport.sendMail({ from, to, subject, html });
    }
    transport.close();
    const { text } = await owner.get(`${base}/junk`);
    const order = ['three', 'two', 'one'].map((subject) => text.indexOf(`>${subject}<`));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(Math.min(...order)).toBeGreaterThan(0);
    expect(text).toContain('A link leads to the IP address 192.0.2.7');
    expect((await portal.other.owner.get(`${portal.other.path}/junk`)).text).toContain('No junk');
    const ids = [...text.matchAll(/name="messageIds" value="([^"]+)"/g)].map(([, id]) => id ?? '');
    expect(ids).toHaveLength(3);
    const foreign = await portal.other.owner.act(`${portal.other.path}/junk`, 'release', { messageIds: ids });
    expect(foreign.status).toBe(422);
    expect(leads(await owner.act(`${base}/junk`, 'release', { messageIds: ids }))).toBe(
      `303 ${base}/junk?done=released`,
    );
    expect((await owner.get(`${base}/junk`)).text).toContain('No junk');
  });

  test('is paged without gap or repetition', async () => {
    const { owner, path: base } = portal.acme;
    await fillJunk(30);
    const first = await owner.get(`${base}/junk`);
    const next = /href="([^"]+\/junk\?after=[^"]+)"/.exec(first.text)?.[1] ?? '';
    const second = await owner.get(next);
    const subjects = [first, second].flatMap(({ text }) =>
      [...text.matchAll(/>(junk \d+)</g)].map(([, subject]) => subject),
    );
    expect(subjects).toEqual(Array.from({ length: 30 }, (_, i) => `junk ${30 - i}`));
  });
});

/** Sends junk to both mailboxes in turn. */
async function fillJunk(count: number): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: portal.box.port('smtp'), ignoreTLS: true });
  const html = '<a href="http://192.0.2.7/in">https://bank.example/login</a> Verify your account.';
  for (let i = 1; i <= count; i++) {
    const from = { name: 'service@bank.example', address: `win${i}@casino${i}.example` };
    await transport.sendMail({ from, to: `${i % 2 === 0 ? 'anna' : 'bert'}@acme.test`, subject: `junk ${i}`, html });
  }
  transport.close();
}
