import { createHash } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setTokenMode, stopAgents } from '../../../src/tokens/mode-commands.ts';
import { uploadRoutes } from '../../../src/http/routes/uploads.ts';
import { revokeToken } from '../../../src/tokens/commands.ts';
import { webhookRoutes } from '../../../src/http/routes/webhooks.ts';
import { mintToken, resultFor } from '../../support/agent-token.ts';
import { BlobUnreadable } from '../../../mail/store/blob/unreadable.ts';
import { filterMail, putMail } from '../../support/put-mail.ts';
import { SendWorld } from '../../support/send-world.ts';

const FILE = Buffer.from('hello');
const MAIL = `From: <a@x.example>
Subject: plan
Content-Type: multipart/mixed; boundary=m

--m
Content-Type: text/plain

see there
--m
Content-Type: text/plain
Content-Disposition: attachment; filename=plan.txt

hello
--m--
`;

let world: SendWorld;
let app: FastifyInstance;
let token: number;
let account: number;
beforeEach(async () => {
  world = await SendWorld.open({}, [filterMail]);
  account = await world.account('me@a.test');
  app = Fastify();
  await app.register(uploadRoutes(world.world));
  void app.register((inner) => webhookRoutes(world.world)(inner));
  token = await mintToken(world.world, { mailboxes: [account], owner: false });
});
afterEach(async () => {
  await app.close();
  await world[Symbol.asyncDispose]();
});

const ask = (name: string, input: object): Promise<Record<string, unknown>> =>
  resultFor(world.world, token, name, input);

async function uploadLink(): Promise<() => Promise<number>> {
  const sha256 = createHash('sha256').update(FILE).digest('hex');
  const about = { filename: 'a.txt', contentType: 'text/plain', sizeBytes: FILE.length, sha256 };
  const { putUrl } = await ask('upload_attachment_url', about);
  const { pathname, search } = new URL(String(putUrl));
  const headers = { 'content-type': 'text/plain' };
  return async () => (await app.inject({ method: 'PUT', url: pathname + search, headers, payload: FILE })).statusCode;
}

async function attachmentLink(mail = MAIL): Promise<() => Promise<number>> {
  const id = await putMail(world.world.store, { account, receivedAt: 1, trust: {} }, mail);
  const { link } = await ask('get_attachment', { attachmentId: `${id}-2`, mode: 'link' });
  const { pathname, search } = new URL((link as { url: string }).url);
  return async () => (await app.inject({ method: 'GET', url: pathname + search })).statusCode;
}

const ENDS: Record<string, () => Promise<unknown>> = {
  'was revoked': () => world.world.store.write(revokeToken, { organization: 1, id: token }),
  'was frozen': () => world.world.store.write(setTokenMode, { organization: 1, id: token, mode: 'frozen' }),
  'was stopped with all others': () => world.world.store.write(stopAgents, { organization: 1, stopped: true }),
};

test.each(Object.entries(ENDS))('a link to upload or to download ends when its token %s', async (_how, end) => {
  const upload = await uploadLink();
  const download = await attachmentLink();
  expect([await upload(), await download()]).toEqual([201, 200]);
  await end();
  expect([await upload(), await download()]).toEqual([404, 404]);
});

test('a link that is said to be of nobody, or of another token, is none', async () => {
  const id = await putMail(world.world.store, { account, receivedAt: 1, trust: {} }, MAIL);
  const { link } = await ask('get_attachment', { attachmentId: `${id}-2`, mode: 'link' });
  const url = new URL((link as { url: string }).url);
  for (const by of ['', `tok_${token + 1}`]) {
    const forged = new URL(url);
    forged.searchParams.set('by', by);
    expect((await app.inject({ url: forged.pathname + forged.search })).statusCode).toBe(404);
  }
});

test('a file whose long name is cut within a character can be downloaded', async () => {
  const name = `=?utf-8?B?${Buffer.from(`${'n'.repeat(199)}😀.txt`).toString('base64')}?=`;
  expect(await (await attachmentLink(MAIL.replace('plan.txt', `"${name}"`)))()).toBe(200);
});

test('the link of a damaged message says so', async () => {
  const download = await attachmentLink();
  world.world.store.blob = () => Promise.reject(new BlobUnreadable(1, 'its file is missing'));
  let said = '';
  app.addHook('onSend', async (_request, _reply, payload) => void (said = String(payload)));
  expect(await download()).toBe(500);
  expect(JSON.parse(said)).toMatchObject({ error: 'content_unreadable' });
});
