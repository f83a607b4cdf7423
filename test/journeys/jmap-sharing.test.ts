import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import type { StateChange } from '../../mail/jmap/push/state-watch.ts';
import { JmapClient, listOf } from '../support/jmap-client.ts';

const ANN = 'ann@box.test';

let box: Box;
let base: string;
let ann: JmapClient;
let bob: JmapClient;
let authorization: string;

beforeAll(async () => {
  box = await startBox();
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('provision_email', { domain: 'box.test', localPart: 'ann' });
  const { jmap } = (await box.ask('reveal_email_credentials', { address: ANN, reason: 'test' })) as {
    jmap: { token: string };
  };
  ann = await JmapClient.discover(base, { token: jmap.token });
  await share('write');
  bob = await JmapClient.discover(base, { user: box.address, password: box.password });
  authorization = `Basic ${Buffer.from(`${box.address}:${box.password}`).toString('base64')}`;
});
afterAll(() => box[Symbol.asyncDispose]());

const share = (access: 'none' | 'read' | 'write'): Promise<unknown> =>
  box.ask('share_folder', { address: ANN, withAddress: box.address, access });

async function deliver(subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  await transport.sendMail({ from: 'x@else.test', to: ANN, subject, text: 'x' });
}

/** Ids of the emails that Bob finds in Ann's account. */
const found = async (): Promise<string[]> =>
  (await bob.call('Email/query', { accountId: ann.account }))['ids'] as string[];

const download = (blob: string): Promise<Response> =>
  fetch(`${base}/jmap/download/${ann.account}/${blob}/x`, { headers: { authorization } });

test('a shared mailbox is read, downloaded and followed over HTTP, and nothing else of its account', async () => {
  // A position from the past: the present state comes at once, and changes from then on.
  await using events = await bob.events(['Email'], `${bob.account}:1`);
  const stateOfAnn = async (): Promise<unknown> => {
    for (;;) {
      const { changed } = ((await events.next())?.data ?? { changed: {} }) as StateChange;
      if (changed[ann.account] !== undefined) return changed[ann.account];
    }
  };
  const before = await stateOfAnn();
  await deliver('shared');
  const after = await stateOfAnn();
  expect(after).toEqual({ Email: expect.any(String) as string });
  expect(after).not.toEqual(before);
  const [drafts] = listOf(await ann.call('Mailbox/get')).filter(({ role }) => role === 'drafts');
  const made = await ann.call('Email/set', {
    create: { k: { mailboxIds: { [String(drafts?.['id'])]: true }, subject: 'secret' } },
  });
  const { id: secret } = (made['created'] as { k: { id: string } }).k;
  const [shown = '', ...more] = await found();
  expect(more).toEqual([]);
  expect(await (await download(shown)).text()).toContain('Subject: shared');
  expect((await download(secret)).status).toBe(404);
  const upload = { method: 'POST', headers: { authorization, 'content-type': 'text/plain' }, body: 'x' };
  expect((await fetch(`${base}/jmap/upload/${ann.account}`, upload)).status).toBe(404);
  const flagged = await bob.call('Email/set', {
    accountId: ann.account,
    update: { [shown]: { 'keywords/$seen': true } },
  });
  expect(flagged).toMatchObject({ notUpdated: null });
  const [email] = listOf(await ann.call('Email/get', { ids: [shown], properties: ['keywords'] }));
  expect(email).toMatchObject({ keywords: { $seen: true } });
});

test('a WebSocket reports shared accounts and answers for them until they are no longer shared', async () => {
  const socket = new WebSocket(`${base.replace('http', 'ws')}/jmap/ws`, {
    protocols: ['jmap'],
    headers: { authorization },
  });
  const received: Record<string, unknown>[] = [];
  let wake = (): void => undefined;
  socket.addEventListener('message', ({ data }) => {
    received.push(JSON.parse(String(data)) as Record<string, unknown>);
    wake();
  });
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  const next = async (type: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const one = received.findIndex((message) => message['@type'] === type);
      if (one !== -1) return received.splice(one, 1)[0] ?? {};
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  const say = (message: object): void => socket.send(JSON.stringify(message));
  const using = Object.keys(bob.session.capabilities);
  const request = { '@type': 'Request', using, methodCalls: [['Mailbox/get', { accountId: ann.account }, 'c']] };
  const stateOfAnn = async (): Promise<unknown> => {
    for (;;) {
      const { changed } = (await next('StateChange')) as unknown as StateChange;
      if (changed[ann.account] !== undefined) return changed[ann.account];
    }
  };
  say({ '@type': 'WebSocketPushEnable', dataTypes: ['Email'], pushState: `${bob.account}:1` });
  const before = await stateOfAnn();
  say(request);
  expect(await next('Response')).toMatchObject({
    methodResponses: [['Mailbox/get', { list: [{ name: 'INBOX' }] }, 'c']],
  });
  await deliver('pushed');
  expect(await stateOfAnn()).not.toEqual(before);
  await share('none');
  say(request);
  expect(await next('Response')).toMatchObject({ methodResponses: [['error', { type: 'accountNotFound' }, 'c']] });
  socket.close();
  const later = await JmapClient.discover(base, { user: box.address, password: box.password });
  expect(Object.keys(later.session.accounts)).toEqual([bob.account]);
});
