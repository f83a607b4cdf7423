import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { jmapId } from '../../../mail/store/object-id.ts';
import { rowIn } from '../../../src/core/message-ids.ts';
import { translatedRefusal } from '../../../src/webmail/client/refusals.ts';
import { testCertificate } from '../../support/certificate.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { putMail } from '../../support/put-mail.ts';

const TRACE = 'Authentication-Results: mx.box.test;\r\n\tdkim=pass header.d=list.test header.s=s1\r\n';
const SIGNATURE =
  'DKIM-Signature: v=1; a=rsa-sha256; d=list.test; s=s1; h=from:list-unsubscribe:list-unsubscribe-post; bh=AA==; b=BB==';

let box: ConsentWorld;
let strict: ConsentWorld;
let requests: string[] = [];
let status = 200;
let list: string;
const server = await openList();

/** A list's server, which notes what it is asked. */
async function openList() {
  const certificate = await testCertificate('list.test');
  setDefaultCACertificates([...getCACertificates(), certificate.cert]);
  return createServer(certificate, (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${body} cookie:${request.headers.cookie ?? 'none'}`);
      response.writeHead(status, { location: 'https://127.0.0.1:1/elsewhere' }).end();
    });
  });
}

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  list = `https://127.0.0.1:${(server.address() as AddressInfo).port}/leave?id=7`;
  box = await consentWorld({}, { allowPrivateNetworks: { all: true, networks: [], endpoints: [] } });
  // A service of the operator, for webhooks: mail of strangers must not reach it.
  const endpoints = [{ host: '127.0.0.1', port: (server.address() as AddressInfo).port }];
  strict = await consentWorld({}, { allowPrivateNetworks: { all: false, networks: [], endpoints } });
});
afterAll(async () => {
  server.close();
  await box[Symbol.asyncDispose]();
  await strict[Symbol.asyncDispose]();
});
beforeEach(() => {
  requests = [];
  status = 200;
});

/** Stores a message of a list; `trace`: what this server wrote when it came. Answers its JMAP id. */
async function deliver(
  { world, clock, anna }: ConsentWorld,
  header: readonly string[],
  trace = TRACE,
): Promise<string> {
  const text = [...header, 'From: News <news@list.test>', 'Subject: News', '', 'News.', ''].join('\n');
  const row = rowIn('email', anna, await putMail(world.store, { account: anna, receivedAt: clock.now }, text)) ?? 0;
  using database = new DatabaseSync(join(dirname(world.store.files.directory), 'mailstead.db'));
  database.prepare('UPDATE email SET trace = ?, size = size + ? WHERE id = ?').run(trace, trace.length, row);
  return jmapId('email', row);
}

const signed = (): string[] => [
  SIGNATURE,
  `List-Unsubscribe: <mailto:leave@list.test>, <${list}>`,
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
];

async function reader(world: ConsentWorld, account: number): Promise<Someone> {
  const someone = await world.someone('member', 1, [account]);
  const form = await someone.visitor.formToken('/account');
  await someone.visitor.post('/mail/open', { form, mailbox: `mbx_${account}` });
  return someone;
}

const leave = async (world: ConsentWorld, email: string, account = world.anna, headers = {}) => {
  const { visitor } = await reader(world, account);
  const said = await visitor.post('/mail/unsubscribe', { email }, headers);
  return [said.status, said.json] as const;
};

test('one request of the server unsubscribes, without a cookie of the reader', async () => {
  const email = await deliver(box, signed());
  expect(await leave(box, email)).toEqual([200, { kind: 'done', host: '127.0.0.1' }]);
  expect(requests).toEqual(['POST /leave?id=7 List-Unsubscribe=One-Click cookie:none']);
});

test('without a signature that passed, the reader gets a mail or a page, and nothing is requested', async () => {
  const email = await deliver(box, signed(), '');
  expect(await leave(box, email)).toEqual([200, { kind: 'mailto', href: 'mailto:leave@list.test' }]);
  const page = await deliver(box, [`List-Unsubscribe: <${list}>`]);
  expect(await leave(box, page)).toEqual([200, { kind: 'link', url: list }]);
  expect(requests).toEqual([]);
});

test('a redirect is not followed, and an error is said', async () => {
  status = 302;
  const [code, answer] = await leave(box, await deliver(box, signed()));
  expect([code, answer?.['detail']]).toEqual([
    502,
    'Not unsubscribed: 127.0.0.1: HTTP 302, redirects are not followed.',
  ]);
  expect(requests.length).toBe(1);
});

test('a private address is not asked, also one that the operator allows for webhooks', async () => {
  const [code, answer] = await leave(strict, await deliver(strict, signed()));
  expect([code, String(answer?.['detail'])]).toEqual([502, expect.stringContaining('private address')]);
  expect(requests).toEqual([]);
});

test('another mailbox, another site and a message without an address request nothing', async () => {
  const email = await deliver(box, signed());
  const refused = (code: string): unknown => [404, { detail: translatedRefusal(code), code }];
  expect(await leave(box, email, box.bert)).toEqual(refused('no-message'));
  expect((await leave(box, email, box.anna, { 'sec-fetch-site': 'cross-site' }))[0]).toBe(403);
  expect(await leave(box, await deliver(box, []))).toEqual(refused('no-unsubscribe'));
  expect(requests).toEqual([]);
});
