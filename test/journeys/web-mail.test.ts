import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { http, tool } from '../support/mcp.ts';
import { leads, ownedOrganization, Visitor } from '../support/visitor.ts';

let box: Box;
let base: string;
beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
});
afterAll(() => box[Symbol.asyncDispose]());

const OWN = { 'sec-fetch-site': 'same-origin' };

/** A visitor whose browser has a session of web mail. */
async function reader(address = box.address, password = box.password): Promise<Visitor> {
  const visitor = new Visitor(base);
  expect(leads(await visitor.post('/mail/sign-in', { address, password }))).toBe('303 /mail');
  return visitor;
}

const jmap = (visitor: Visitor, headers: Record<string, string> = OWN) =>
  http('GET', `${base}/mail/jmap/session`, { cookie: visitor.cookie ?? '', ...headers });

describe('web mail', () => {
  test('asks for the password of the mailbox, and opens with it', async () => {
    const stranger = new Visitor(base);
    expect(leads(await stranger.get('/mail'))).toBe('303 /mail/sign-in');
    const wrong = await stranger.post('/mail/sign-in', { address: box.address, password: 'not the password' });
    expect([wrong.status, wrong.text.includes('Wrong address or password.')]).toEqual([422, true]);
    const known = await reader();
    const page = await known.get('/mail');
    expect(page.status).toBe(200);
    expect(String(page.headers['content-security-policy'])).not.toContain('unsafe');
    const session = await jmap(known);
    expect([session.status, session.json?.['username']]).toEqual([200, box.address]);
  });

  test('takes its cookie from its own pages only', async () => {
    const known = await reader();
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      {},
    ]) {
      expect([headers, (await jmap(known, headers)).status]).toEqual([headers, 403]);
    }
    const foreign = { 'sec-fetch-site': 'cross-site' };
    expect((await known.post('/mail/sign-out', {}, foreign)).status).toBe(403);
    expect((await jmap(known)).status).toBe(200);
    // Programs use a credential of their own: the cookie opens nothing there.
    expect((await http('GET', `${base}/jmap/session`, { cookie: known.cookie ?? '', ...OWN })).status).toBe(401);
  });

  test('reads its first list in one request, as its own requests would, and for its own pages only', async () => {
    const known = await reader();
    const cookie = known.cookie ?? '';
    const page = await known.get('/mail');
    const [, first = ''] = /data-first="([^"]+)"/.exec(page.text) ?? [];
    expect(first).toMatch(/^\/mail\/jmap\/first\?folder=f[0-9a-z]+$/);
    expect(page.text).toContain(`<link rel="preload" as="fetch" href="${first}"`);
    const found = await http('GET', `${base}${first}`, { cookie, ...OWN });
    expect([found.status, found.headers['cache-control']]).toEqual([200, 'no-store']);
    const { session, answers, snoozed } = found.json as {
      session: { username: string; capabilities: object };
      answers: { methodCalls: [string, object, string][]; methodResponses: object[] }[];
      snoozed: object[];
    };
    expect([session, snoozed]).toEqual([(await jmap(known)).json, []]);
    expect(answers.map(({ methodCalls }) => methodCalls.map(([name]) => name))).toEqual([
      ['Email/query', 'Email/get', 'Thread/get', 'Email/get'],
      ['Mailbox/get'],
      ['Identity/get'],
    ]);
    for (const { methodCalls, methodResponses } of answers) {
      const body = JSON.stringify({ using: Object.keys(session.capabilities), methodCalls });
      const headers = { cookie, 'content-type': 'application/json', ...OWN };
      const answered = await http('POST', `${base}/mail/jmap/api`, headers, body);
      expect(answered.json?.['methodResponses']).toEqual(methodResponses);
    }
    expect((await http('GET', `${base}${first}`, OWN)).status).toBe(401);
    for (const site of ['cross-site', 'same-site', 'none'])
      expect((await http('GET', `${base}${first}`, { cookie, 'sec-fetch-site': site })).status).toBe(403);
    expect((await http('GET', `${base}/jmap/first`, { cookie, ...OWN })).status).toBe(404);
    // Another account than the first one is read by the requests of the page.
    expect((await known.get('/mail?account=mbx_1')).text).toContain('data-first=""');
  });

  test('lets its service worker load its files, and nothing of others', async () => {
    const script = await http('GET', `${base}/mail/service-worker.js`);
    expect([script.status, script.headers['service-worker-allowed']]).toEqual([200, '/mail']);
    const policy = String(script.headers['content-security-policy']).split('; ');
    expect(policy).toEqual(["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"]);
    const [, paths = '[]'] = /PATHS = (\[.*?\]);/.exec(script.text) ?? [];
    const files = JSON.parse(paths) as string[];
    expect(files.length).toBeGreaterThan(2);
    for (const path of files) expect([path, (await http('GET', `${base}${path}`)).status]).toEqual([path, 200]);
  });

  test('is closed by signing out, on the server as well', async () => {
    const known = await reader();
    const cookie = known.cookie ?? '';
    expect(leads(await known.post('/mail/sign-out', {}))).toBe('303 /mail/sign-in?done=out');
    expect((await http('GET', `${base}/mail/jmap/session`, { cookie, ...OWN })).status).toBe(401);
  });

  test('is closed at once when the password is changed, and survives a restart', async () => {
    const { token } = await ownedOrganization(base, 'Acme', 'owner@example.test');
    await tool(base, 'add_email_domain', { domain: 'webmail.test' }, token);
    await tool(base, 'verify_email_domain', { domain: 'webmail.test' }, token);
    await tool(base, 'provision_email', { domain: 'webmail.test', localPart: 'anna' }, token);
    const { body } = await tool(base, 'reveal_email_credentials', { address: 'anna@webmail.test' }, token);
    const { password } = body['imap'] as { password: string };
    const anna = await reader('anna@webmail.test', password);
    expect((await jmap(anna)).json?.['username']).toBe('anna@webmail.test');
    await box.stop();
    await box.start();
    base = `http://127.0.0.1:${box.port('http')}`;
    expect((await jmap(anna)).status).toBe(200);
    await tool(base, 'rotate_email_credentials', { address: 'anna@webmail.test' }, token);
    expect((await jmap(anna)).status).toBe(401);
  });

  test('loads no image from the own network, for nobody without a session, and nothing but images', async () => {
    const known = await reader();
    const image = (url: string, cookie = known.cookie ?? '') =>
      http('GET', `${base}/mail/image?url=${encodeURIComponent(url)}`, { cookie, ...OWN });
    expect((await image('https://example.test/a.png', '')).status).toBe(403);
    for (const url of ['file:///etc/passwd', 'https://user:pw@example.test/', 'x', `${base}/healthz`]) {
      expect([url, (await image(url)).status >= 400]).toEqual([url, true]);
    }
  });
});
