import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { http, tool } from '../support/mcp.ts';
import { leads, ownedOrganization, OWNER_PASSWORD, Visitor } from '../support/visitor.ts';

let box: Box;
let base: string;
let acme: Awaited<ReturnType<typeof ownedOrganization>>;
let other: Awaited<ReturnType<typeof ownedOrganization>>;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  acme = await ownedOrganization(base, 'Acme', 'ada@example.test');
  other = await ownedOrganization(base, 'Other', 'eve@example.test');
  await tool(base, 'add_email_domain', { domain: 'acme.test' }, acme.token);
  await tool(base, 'verify_email_domain', { domain: 'acme.test' }, acme.token);
  for (const localPart of ['anna', 'bert']) {
    await tool(base, 'provision_email', { domain: 'acme.test', localPart }, acme.token);
  }
});
afterAll(() => box[Symbol.asyncDispose]());

/** The last link to a page in the mail of a mailbox, the local one if none is given. */
async function mailedLink(page: string, user = box.address, pass = box.password): Promise<string> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    auth: { user, pass },
    tls: { rejectUnauthorized: false },
    logger: false,
  });
  await client.connect();
  await client.mailboxOpen('INBOX');
  let link = '';
  for await (const { source } of client.fetch('1:*', { source: true })) {
    // Long lines of the text are folded as quoted-printable folds them.
    const text = (source ?? Buffer.alloc(0)).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
    link = new RegExp(`${page}\\?token=([0-9a-f]{48})`).exec(text)?.[1] ?? link;
  }
  await client.logout();
  return link;
}

/** Signs the operator of local mode in, by the link that the start printed. */
async function operator(): Promise<Visitor> {
  const printed = box.printed.map((line) => /\/auth\/sign-in\?token=([0-9a-f]{48})/.exec(line)?.[1]);
  const visitor = new Visitor(base);
  const done = await visitor.post('/auth/sign-in', { token: printed.findLast((one) => one !== undefined) ?? '' });
  expect(leads(done)).toBe('303 /');
  return visitor;
}

describe('every page', () => {
  const PUBLIC = [
    '/',
    '/login',
    '/auth/setup',
    '/auth/sign-in',
    '/auth/reset',
    '/auth/reset?token=x',
    '/auth/invite',
    '/auth/prove',
  ];
  const OWN = ['', 'domains', 'domains/dom_2', 'mailboxes', 'mailboxes/mbx_2', 'forwarding', 'queue', 'tokens'];
  const MORE = ['api-keys', 'services', 'members', 'audit', 'audit?verify', 'settings', 'nothing', 'mailboxes/mbx_99'];

  test.each([...PUBLIC, '/billing', '/account', ...[...OWN, ...MORE].map((one) => `/o/org_2/${one}`)])(
    '%s is framed, kept, sniffed and told of by nobody, and loads nothing from elsewhere',
    async (path) => {
      const said = await acme.owner.get(path.replace(/\/$/, '') || '/');
      expect(said.headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'(?:; script-src 'self')?$/,
        ),
      });
      expect(said.status).toBeLessThan(500);
      expect(said.text.match(/(?:src|href|action)="(?!\/|#|data:image)/g) ?? []).toEqual([]);
      expect(said.text).not.toMatch(/<script(?! src="\/portal\/)| on[a-z]+=|style="/);
    },
  );

  test('what is no page is as well protected', async () => {
    for (const path of ['/healthz', '/api/tools', '/mcp', '/nothing', '/openapi.json']) {
      const said = await http('GET', `${base}${path}`);
      expect([path, said.headers['cache-control'], said.headers['content-security-policy']]).toEqual([
        path,
        expect.stringMatching(/no-store|max-age/),
        expect.stringContaining("frame-ancestors 'none'"),
      ]);
    }
  });

  test('the style sheet is kept for ever under a name of its own', async () => {
    const path = /href="(\/portal\/style-[0-9a-f]{16}\.css)"/.exec((await acme.owner.get('/account')).text)?.[1];
    const said = await http('GET', `${base}${path}`);
    expect([said.status, said.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
  });

  test('of an organization is the same to strangers as one that does not exist', async () => {
    const foreign = await acme.owner.get(`${other.path}/tokens`);
    const missing = await acme.owner.get('/o/org_9999/tokens');
    expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
    expect(leads(await new Visitor(base).get(`${acme.path}/tokens`))).toBe(
      `303 /login?next=${encodeURIComponent(`${acme.path}/tokens`)}`,
    );
  });
});

describe('the claim page', () => {
  test('is looked at as often as one likes, by GET and by HEAD, and claims once', async () => {
    const args = { ownerEmail: 'often@example.test', organizationName: 'Often' };
    const { body } = await tool(base, 'create_account_and_claim_link', args);
    const token = new URL(String(body['claimUrl'])).searchParams.get('token') ?? '';
    const visitor = new Visitor(base);
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD']) {
      const said = await visitor.get(`/auth/setup?token=${token}`, method);
      expect([method, said.status]).toEqual([method, 200]);
      expect(said.headers['set-cookie']).toBeUndefined();
    }
    const short = await visitor.post('/auth/setup', { token, password: 'too short' });
    expect([short.status, short.text]).toEqual([422, expect.stringContaining('Use at least 12 characters.')]);
    const done = await visitor.post('/auth/setup', { token, password: OWNER_PASSWORD });
    expect(leads(done)).toMatch(/^303 \/o\/org_\d+\?done=claimed$/);
    expect(done.headers['set-cookie']).toEqual([expect.stringMatching(/; HttpOnly; SameSite=Lax$/)]);
    const again = await new Visitor(base).post('/auth/setup', { token, password: 'another password' });
    expect(again.status).toBe(410);
    expect((await visitor.get(`/auth/setup?token=${token}`)).status).toBe(410);
  });

  test('never shows its token in a place that others read', async () => {
    const said = await new Visitor(base).get(`/auth/setup?token=${'f'.repeat(48)}`);
    expect([said.status, said.text.includes('f'.repeat(48))]).toEqual([404, false]);
    const printed = box.printed.join('\n');
    for (const { claimToken, owner } of [acme, other]) {
      expect(printed).not.toContain(claimToken);
      expect(printed).not.toContain(owner.secret);
    }
    expect(printed).not.toContain(OWNER_PASSWORD);
  });

  test('may be used by a program', async () => {
    const args = { ownerEmail: 'program@example.test', organizationName: 'Program' };
    const { body } = await tool(base, 'create_account_and_claim_link', args);
    const token = new URL(String(body['claimUrl'])).searchParams.get('token') ?? '';
    const json = { 'content-type': 'application/json' };
    const claim = (password: string) =>
      http('POST', `${base}/api/auth/claim`, json, JSON.stringify({ token, password }));
    expect((await claim('short')).json).toMatchObject({ error: 'invalid_arguments' });
    const done = await claim(OWNER_PASSWORD);
    expect([done.status, done.json]).toEqual([200, expect.objectContaining({ claimed: true, addressProven: false })]);
    expect((await claim(OWNER_PASSWORD)).status).toBe(409);
    const visitor = new Visitor(base);
    visitor.cookie = String(done.headers['set-cookie']).split(';', 1)[0];
    expect(leads(await visitor.get('/'))).toMatch(/^303 \/o\/org_/);
  });
});

describe('sessions', () => {
  test('a chosen or an old value is never taken over', async () => {
    const visitor = new Visitor(base);
    visitor.cookie = `mailstead=${'a'.repeat(48)}`;
    expect(leads(await visitor.signIn('ada@example.test', OWNER_PASSWORD))).toBe('303 /');
    const first = visitor.cookie;
    expect(visitor.secret).not.toBe('a'.repeat(48));
    await visitor.signIn('ada@example.test', OWNER_PASSWORD);
    expect(visitor.cookie).not.toBe(first);
    const old = new Visitor(base);
    old.cookie = first;
    expect(leads(await old.get('/account'))).toBe('303 /login?next=/account');
  });

  test('signing out ends it for good', async () => {
    const visitor = new Visitor(base);
    await visitor.signIn('ada@example.test', OWNER_PASSWORD);
    const { cookie } = visitor;
    const form = await visitor.formToken('/account');
    expect(leads(await visitor.post('/logout', { form }))).toBe('303 /login?done=out');
    visitor.cookie = cookie;
    expect(leads(await visitor.get('/account'))).toBe('303 /login?next=/account');
  });

  test('a wrong password and an unknown address are one answer', async () => {
    const [wrong, unknown] = [new Visitor(base), new Visitor(base)];
    const a = await wrong.signIn('ada@example.test', 'not her password');
    const b = await unknown.signIn('nobody@example.test', 'not her password');
    expect([a.status, a.text.replaceAll('ada@', 'x@')]).toEqual([422, b.text.replaceAll('nobody@', 'x@')]);
    expect(wrong.cookie).toBeUndefined();
  });

  test('a new password signs every other browser out; one can be ended alone', async () => {
    const [here, there, third] = [new Visitor(base), new Visitor(base), new Visitor(base)];
    for (const one of [here, there, third]) await one.signIn('eve@example.test', OWNER_PASSWORD);
    const session = [...(await here.get('/account')).text.matchAll(/name="session" value="(ses_\d+)"/g)][0]?.[1] ?? '';
    expect(leads(await here.act('/account', 'end', { session }))).toBe('303 /account?done=ended');
    expect(leads(await third.get('/account'))).toBe('303 /login?next=/account');
    const wrong = await here.act('/account', 'password', { current: 'not it at all', password: 'a new and long one' });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('This is not your present password.')]);
    const fields = { current: OWNER_PASSWORD, password: 'a new and long one' };
    expect(leads(await here.act('/account', 'password', fields))).toBe('303 /account?done=password');
    expect(leads(await there.get('/account'))).toBe('303 /login?next=/account');
    expect((await here.get('/account')).status).toBe(200);
    expect((await here.signIn('eve@example.test', OWNER_PASSWORD)).status).toBe(422);
    await other.owner.signIn('eve@example.test', 'a new and long one');
  });
});

describe('over TLS', () => {
  test('the cookie is bound to this host, and to TLS', async () => {
    const options = {
      method: 'POST',
      rejectUnauthorized: false,
      headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    };
    const asked = request(`https://127.0.0.1:${box.port('https')}/login`, options);
    asked.end(new URLSearchParams({ email: 'ada@example.test', password: OWNER_PASSWORD }).toString());
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-mailstead=[0-9a-f]{48}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
  });
});

describe('forms of other sites', () => {
  const rename = { do: 'rename', name: 'Stolen' };
  const name = async () => (await tool(base, 'get_organization', {}, acme.token)).text;

  test.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbor', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { 'sec-fetch-site': '', origin: 'https://evil.test' }],
    ['no origin', { 'sec-fetch-site': '', origin: 'null' }],
    ['text/plain', { 'content-type': 'text/plain' }],
    ['JSON', { 'content-type': 'application/json' }],
    ['a tab before the type', { 'content-type': '\tapplication/json' }],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
  ])('%s changes nothing', async (_name, headers) => {
    const form = await acme.owner.formToken(`${acme.path}/settings`);
    const before = await name();
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
    const visitor = new Visitor(base);
    visitor.cookie = acme.owner.cookie;
    const said = await raw(visitor, `${acme.path}/settings`, { ...rename, form }, sent, 'sec-fetch-site' in headers);
    expect(said.status).toBeGreaterThanOrEqual(400);
    expect(await name()).toBe(before);
  });

  /** Sends exactly these headers. */
  function raw(
    { cookie = '' }: Visitor,
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string>,
    bare: boolean,
  ) {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const site: Record<string, string> = bare ? {} : { 'sec-fetch-site': 'same-origin' };
    const all = { cookie, ...type, ...site, ...headers };
    return http('POST', `${base}${path}`, all, new URLSearchParams(fields).toString());
  }

  test('a form without its token, or with one of another session, changes nothing', async () => {
    const before = await name();
    const theirs = await other.owner.formToken(`${other.path}/settings`);
    for (const form of ['', 'x', theirs]) {
      expect((await acme.owner.post(`${acme.path}/settings`, { ...rename, form })).status).toBe(403);
    }
    expect(await name()).toBe(before);
    const good = await acme.owner.act(`${acme.path}/settings`, 'rename', { name: 'Acme' });
    expect(leads(good)).toBe(`303 ${acme.path}/settings?done=renamed`);
  });

  test('a cookie opens no API', async () => {
    const headers = { cookie: acme.owner.cookie ?? '', 'content-type': 'application/json' };
    expect((await http('POST', `${base}/api/tools/list_members`, headers, '{}')).status).toBe(401);
    expect((await http('GET', `${base}/api/email/domains`, headers)).status).toBe(401);
  });
});

describe('an organization', () => {
  test('a limited token is minted, shown once, refused where it must be, and revoked', async () => {
    const path = `${acme.path}/tokens`;
    const shown = await acme.owner.act(path, 'mint', { name: 'Reader', actions: ['read'] });
    const token = /aria-label="Token">(mst_[0-9a-f]{48})</.exec(shown.text)?.[1] ?? '';
    expect(token).not.toBe('');
    expect((await acme.owner.get(path)).text).not.toContain(token);
    expect((await tool(base, 'list_emails', {}, token)).status).toBe(200);
    const refused = await tool(base, 'add_email_domain', { domain: 'b.test' }, token);
    expect(refused.body).toMatchObject({ error: 'action_not_allowed', requiredAction: 'manage' });
    const { tokens } = (await tool(base, 'list_agent_tokens', {}, acme.token)).body as {
      tokens: { id: string; name: string }[];
    };
    const tokenId = tokens.find((one) => one.name === 'Reader')?.id ?? '';
    expect(leads(await acme.owner.act(path, 'revoke', { tokenId }))).toBe(`303 ${path}?done=revoked`);
    expect((await tool(base, 'list_emails', {}, token)).status).toBe(401);
  });

  test('a wrong field is said beside the field, and the rest stays as it was written', async () => {
    const path = `${acme.path}/tokens`;
    const said = await acme.owner.act(path, 'mint', { name: 'Kept', actions: ['read'], expiresAt: '2001-01-01' });
    expect(said.status).toBe(422);
    expect(said.text).toMatch(/aria-describedby="token-expires-hint token-expires-wrong"[^>]*aria-invalid="true"/);
    expect(said.text).toContain('This is past.');
    expect(said.text).toContain('value="Kept"');
  });

  test('held mail is seen, released and cancelled', async () => {
    const { body } = await tool(base, 'reveal_email_credentials', { address: 'anna@acme.test' }, acme.token);
    const { password } = body['imap'] as { password: string };
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      host: '127.0.0.1',
      port: box.port('submissions'),
      secure: true,
      auth: { user: 'anna@acme.test', pass: password },
      tls: { rejectUnauthorized: false },
    });
    const to = ['one@remote.example', 'two@remote.example'];
    const text = 'Dear <script>you</script>,\nit waits.';
    const attachments = [{ filename: 'plan.pdf', content: 'x' }];
    await transport.sendMail({ from: 'anna@acme.test', to, subject: 'Held für Sie', text, attachments });
    const path = `${acme.path}/queue`;
    const { items } = (await tool(base, 'list_queue', {}, acme.token)).body as {
      items: { queueId: string; to: string }[];
    };
    const idOf = (address: string): string => items.find((one) => one.to === address)?.queueId ?? '';
    expect((await acme.owner.get(path)).text).toContain(`${path}/${idOf(to[0] ?? '')}"`);
    const mail = (await acme.owner.get(`${path}/${idOf(to[0] ?? '')}`)).text;
    for (const said of [
      'Held für Sie',
      'Dear &lt;script&gt;you&lt;/script&gt;,\nit waits.',
      'plan.pdf',
      'local mode',
    ]) {
      expect(mail).toContain(said);
    }
    expect((await other.owner.get(`${other.path}/queue/${idOf(to[0] ?? '')}`)).status).toBe(404);
    expect((await other.owner.get(`${other.path}/queue`)).text).toContain('Nothing waits');
    expect(leads(await other.owner.act(`${other.path}/queue`, 'cancel', { queueId: idOf(to[0] ?? '') }))).toBe('422 ');
    expect(leads(await acme.owner.act(path, 'cancel', { queueId: idOf(to[0] ?? '') }))).toBe(
      `303 ${path}?done=cancelled`,
    );
    expect(leads(await acme.owner.act(path, 'release', { queueId: idOf(to[1] ?? '') }))).toBe(
      `303 ${path}?done=released`,
    );
    expect((await acme.owner.get(path)).text).not.toContain(`${path}/${idOf(to[0] ?? '')}"`);
  });

  test('a person is invited by mail, joins as member, and sees only mailboxes of their own', async () => {
    const invited = await acme.owner.act(`${acme.path}/members`, 'invite', { email: box.address, role: 'member' });
    expect(leads(invited)).toBe(`303 ${acme.path}/members?done=invited`);
    const token = await mailedLink('/auth/invite');
    const member = new Visitor(base);
    expect((await member.get(`/auth/invite?token=${token}`)).text).toContain('Join Acme');
    const fields = { token, password: 'a member of Acme', displayName: 'Mia' };
    expect(leads(await member.post('/auth/invite', fields))).toBe(`303 ${acme.path}?done=joined`);
    expect((await member.get(`${acme.path}/mailboxes`)).text).toContain('An administrator of this organization gives');
    for (const page of ['tokens', 'members', 'domains', 'settings', 'audit', 'services']) {
      expect([page, (await member.get(`${acme.path}/${page}`)).status]).toEqual([page, 404]);
    }

    const { members } = (await tool(base, 'list_members', {}, acme.token)).body as {
      members: { userId: string; email: string }[];
    };
    const userId = members.find((one) => one.email === box.address)?.userId ?? '';
    const own = { userId, role: 'member', mailboxIds: 'mbx_2' };
    expect(leads(await acme.owner.act(`${acme.path}/members`, 'change', own))).toContain('done=changed');
    const { text } = await member.get(`${acme.path}/mailboxes`);
    expect([text.includes('/mailboxes/mbx_2"'), text.includes('/mailboxes/mbx_3"')]).toEqual([true, false]);
    expect((await member.get(`${acme.path}/mailboxes/mbx_3`)).status).toBe(404);
    const shown = await member.act(`${acme.path}/mailboxes/mbx_2`, 'reveal');
    expect(shown.text).toContain('The password of anna@acme.test');
    expect((await member.post('/auth/invite', fields)).status).toBe(410);

    await acme.owner.act(`${acme.path}/members`, 'remove', { userId });
    expect((await member.get(`${acme.path}/mailboxes`)).status).toBe(404);
  });

  test('a forgotten password is replaced by mail, with one answer for every address', async () => {
    const asked = await Promise.all(
      [box.address, 'nobody@example.test', 'ada@example.test', 'nonsense'].map((email) =>
        new Visitor(base).post('/auth/reset', { email }),
      ),
    );
    expect(new Set(asked.map((one) => `${one.status} ${one.text}`)).size).toBe(1);
    await box.logged((line) => line.msg === 'password reset asked for' && line['outcome'] === 'sent');
    const token = await mailedLink('/auth/reset');
    const visitor = new Visitor(base);
    expect((await visitor.get(`/auth/reset?token=${token}`)).text).toContain(box.address);
    const fields = { token, password: 'remembered this time' };
    expect(leads(await visitor.post('/auth/reset', fields))).toBe('303 /login?done=password');
    expect((await visitor.post('/auth/reset', fields)).status).toBe(410);
    expect(leads(await visitor.signIn(box.address, 'remembered this time'))).toBe('303 /');
  });

  test('an address is proved by who is signed in with it, and by nobody who only reads its mail', async () => {
    const address = 'bert@acme.test';
    const { body } = await tool(base, 'reveal_email_credentials', { address }, acme.token);
    const { password } = body['imap'] as { password: string };
    const { owner } = await ownedOrganization(base, 'Berts', address);
    expect((await owner.get('/account')).text).toContain('Your address is not proved yet.');
    expect(leads(await owner.act('/account', 'prove'))).toBe('303 /account?done=mailed');
    const token = await mailedLink('/auth/prove', address, password);
    const form = await acme.owner.formToken('/account');
    expect((await acme.owner.post('/auth/prove', { token, form })).status).toBe(403);
    expect((await new Visitor(base).get(`/auth/prove?token=${token}`)).text).toContain('Sign in first');

    // The claim letter came there too: it proves nothing without the sign-in, and with it as well.
    const claim = await mailedLink('/auth/setup', address, password);
    const reader = new Visitor(base);
    expect((await reader.post('/auth/setup', { token: claim, password: 'a reader of the mail' })).status).toBe(422);
    expect((await owner.get('/account')).text).toContain('Your address is not proved yet.');
    const own = await owner.formToken('/account');
    expect(leads(await owner.post('/auth/prove', { token, form: own }))).toBe('303 /account?done=proven');
    expect((await owner.get('/account?done=proven')).text).not.toContain('is not proved yet');
    expect((await owner.post('/auth/prove', { token, form: own })).status).toBe(410);
  });

  test('the operator sees every organization, and freezes one', async () => {
    const visitor = await operator();
    const path = '/o/org_1/organizations';
    expect((await visitor.get(path)).text).toContain('Other');
    expect((await acme.owner.get(`${acme.path}/organizations`)).status).toBe(404);
    expect(leads(await visitor.act(path, 'freeze', { organization: other.id }))).toBe(`303 ${path}?done=frozen`);
    expect((await other.owner.get(other.path)).status).toBe(404);
    expect((await other.owner.get('/account')).text).toContain('frozen by the operator');
    await visitor.act(path, 'unfreeze', { organization: other.id });
    expect((await other.owner.get(other.path)).status).toBe(200);

    const gone = await ownedOrganization(base, 'Gone', 'gone@example.test');
    const wrong = await visitor.act(path, 'remove', { organization: gone.id, confirm: 'other' });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('This is another slug.')]);
    expect(leads(await visitor.act(path, 'remove', { organization: gone.id, confirm: 'gone' }))).toContain(
      'done=removed',
    );
    expect((await gone.owner.get(gone.path)).status).not.toBe(200);
    expect((await tool(base, 'whoami', {}, gone.token)).status).toBe(401);
  });
});

test('no secret of a person lies in the data directory', () => {
  const files = readdirSync(box.dataDir, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name)));
  expect(files.length).toBeGreaterThan(1);
  for (const { owner, claimToken } of [acme, other]) {
    for (const secret of [owner.secret, claimToken, OWNER_PASSWORD]) {
      expect(files.some((bytes) => bytes.includes(secret))).toBe(false);
      expect(files.some((bytes) => bytes.includes(Buffer.from(secret, 'hex')) && /^[0-9a-f]+$/.test(secret))).toBe(
        false,
      );
    }
  }
});
