import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { tool } from '../support/mcp.ts';
import { leads, type Owned, ownedOrganization, portalBox, Visitor } from '../support/visitor.ts';

let box: Box;
let base: string;
let acme: Owned;
let other: Owned;

beforeAll(async () => {
  ({ box, base, acme, other } = await portalBox());
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

describe('an organization', () => {
  test('a DNS provider is offered on the page of a domain, and refused in words', async () => {
    const list = (await acme.owner.get(`${acme.path}/domains`)).text;
    const path = `${acme.path}/domains/${/domains\/(dom_\d+)/.exec(list)?.[1] ?? ''}`;
    const page = (await acme.owner.get(path)).text;
    for (const name of ['Cloudflare', 'Hetzner', 'Route 53', 'RFC 2136']) expect(page).toContain(name);
    const fields = { provider: 'rfc2136', names: 'server port keyName algorithm secret' };
    const given = { 'credential-server': '9.9.9.9', 'credential-keyName': 'key', 'credential-secret': 'x' };
    const refused = await acme.owner.act(path, 'connect', { ...fields, ...given });
    expect([refused.status, refused.text.includes('must be base64')]).toEqual([422, true]);
    expect(refused.text).not.toContain('value="x"');
    const missing = await acme.owner.act(path, 'connect', { ...fields, 'credential-server': '9.9.9.9' });
    expect([missing.status, missing.text.includes('keyName')]).toEqual([422, true]);
    expect((await acme.owner.act(path, 'preview', {})).status).toBe(422);
    expect(leads(await acme.owner.act(path, 'disconnect', { removeRecords: 'false' }))).toBe(
      `303 ${path}?done=disconnected`,
    );
  });

  test('whom its programs write to no more is listed with the reason, put there, and taken off', async () => {
    const path = `${acme.path}/suppressions`;
    expect((await acme.owner.get(path)).text).toContain('No suppressed addresses');
    expect(leads(await acme.owner.act(path, 'add', { address: 'Gone@x.example' }))).toBe(`303 ${path}?done=added`);
    const shown = (await acme.owner.get(path)).text.replaceAll('<wbr />', '');
    expect(shown).toContain('gone@x.example');
    expect(shown).toMatch(/Added by usr_\d+\./);
    expect((await other.owner.get(`${other.path}/suppressions`)).text).not.toContain('gone@');
    const refused = await acme.owner.act(path, 'add', { address: 'no address' });
    expect([refused.status, refused.text.includes('This is not a mail address.')]).toEqual([422, true]);
    expect(leads(await acme.owner.act(path, 'remove', { address: 'gone@x.example' }))).toBe(`303 ${path}?done=removed`);
    expect((await acme.owner.get(path)).text).toContain('No suppressed addresses');
  });

  test('a mailbox gets aliases, and rules about who writes to it, on its own page', async () => {
    const path = `${acme.path}/mailboxes/mbx_2/addresses`;
    const given = { localPart: 'sales-*', note: 'for the shop', expiresAt: '2099-12-31' };
    expect(leads(await acme.owner.act(path, 'alias', given))).toBe(`303 ${path}?done=aliased`);
    expect(leads(await acme.owner.act(path, 'alias', {}))).toBe(`303 ${path}?done=aliased`);
    const rule = { kind: 'block', pattern: '*.Casino.example' };
    expect(leads(await acme.owner.act(path, 'rule', rule))).toBe(`303 ${path}?done=ruled`);
    const shown = (await acme.owner.get(path)).text.replaceAll('<wbr />', '');
    for (const part of ['sales-*@acme.test', 'for the shop', '*.casino.example']) expect(shown).toContain(part);
    expect(shown).toMatch(/[a-z]+-[a-z]+-\d{4}@acme\.test/);
    const refused = await acme.owner.act(path, 'rule', { kind: 'block', pattern: 'no pattern' });
    expect([refused.status, refused.text.includes('This is not an address, domain, *.domain')]).toEqual([422, true]);
    for (const [act, name, said] of [
      ['unalias', 'aliasId', 'unaliased'],
      ['unrule', 'ruleId', 'unruled'],
    ] as const) {
      const ids = [...shown.matchAll(new RegExp(`name="${name}" value="(\\w+)"`, 'g'))].map((match) => match[1] ?? '');
      expect(ids.length).toBeGreaterThan(0);
      for (const id of ids) {
        expect(leads(await acme.owner.act(path, act, { [name]: id }))).toBe(`303 ${path}?done=${said}`);
      }
    }
    expect((await acme.owner.get(path)).text).not.toContain('casino.example');
  });

  test('the ways by which its mail leaves are listed, set and removed, and a password is never shown', async () => {
    const path = `${acme.path}/routes`;
    expect((await acme.owner.get(path)).text).toContain('No routes');
    const login = { username: 'acme', password: 'smarthost-secret' };
    const route = { receiverDomain: 'Slow.example', use: 'failover', host: '127.0.0.1', port: '2525', ...login };
    expect(leads(await acme.owner.act(path, 'set', route))).toBe(`303 ${path}?done=set`);
    expect(leads(await acme.owner.act(path, 'set', { use: 'never', port: '587' }))).toBe(`303 ${path}?done=set`);
    const { text } = await acme.owner.get(path);
    for (const part of ['to slow.example', '127.0.0.1:2525', 'direct only', 'acme']) expect(text).toContain(part);
    expect(text).not.toContain('smarthost-secret');
    expect((await other.owner.get(`${other.path}/routes`)).text).toContain('No routes');

    const refused = await acme.owner.act(path, 'set', { use: 'always', port: '2525', ...login });
    expect([refused.status, refused.text.includes('This is missing: the hostname of the smarthost.')]).toEqual([
      422,
      true,
    ]);
    expect(refused.text).not.toContain('smarthost-secret');
    const odd = await acme.owner.act(path, 'set', { host: '127.0.0.1', port: 'many' });
    expect([odd.status, odd.text.includes('id="port-wrong"')]).toEqual([422, true]);

    const [first = '', second = ''] = [...text.matchAll(/name="routeId" value="(rte_\d+)"/g)].map((one) => one[1]);
    const foreign = await other.owner.act(`${other.path}/routes`, 'remove', { routeId: first });
    expect(foreign.status).toBe(422);
    for (const routeId of [first, second]) {
      expect(leads(await acme.owner.act(path, 'remove', { routeId }))).toBe(`303 ${path}?done=removed`);
    }
    expect((await acme.owner.get(path)).text).toContain('No routes');
  });

  test('what a token did is undone by its owner, also when the token is revoked', async () => {
    const path = `${acme.path}/agents`;
    const made = await tool(base, 'create_agent_token', { name: 'misled', actions: ['read', 'manage'] }, acme.token);
    const { secret, token } = made.body as { secret: string; token: { id: string } };
    const spy = { sourceAddress: 'anna@acme.test', destinationAddress: 'spy@evil.example' };
    await tool(base, 'set_email_forwarder', spy, secret);
    await tool(base, 'add_sender_rule', { kind: 'allow', pattern: 'evil.example' }, secret);
    await tool(base, 'revoke_agent_token', { tokenId: token.id }, acme.token);
    expect((await acme.owner.get(path)).text).toContain('misled (revoked)');
    const undone = await acme.owner.act(path, 'undo', { tokenId: token.id, hours: '1' });
    expect([undone.status, undone.text.replaceAll(/\s+/g, ' ')]).toEqual([
      200,
      expect.stringContaining('0 messages, 2 rules.'),
    ]);
    const { body } = await tool(base, 'list_email_forwarders', { sourceAddress: 'anna@acme.test' }, acme.token);
    expect(body['forwarders']).toEqual([]);
    const foreign = await other.owner.act(`${other.path}/agents`, 'undo', { tokenId: token.id, hours: '1' });
    expect(foreign.status).toBe(422);
  });

  test('what it wants done with mail from outside is chosen on the page Settings', async () => {
    const path = `${acme.path}/settings`;
    expect(leads(await acme.owner.act(path, 'mail', { dmarc: 'mark' }))).toBe(`303 ${path}?done=mail`);
    const { body } = await tool(base, 'get_mail_policy', {}, acme.token);
    expect(body).toMatchObject({ dmarc: 'mark', keepRejects: false });
    expect((await acme.owner.get(path)).text).toMatch(/<option value="mark"\s+selected/);
    await acme.owner.act(path, 'mail', { dmarc: 'follow', keepRejects: 'true' });
    const after = await tool(base, 'get_mail_policy', {}, acme.token);
    expect(after.body).toMatchObject({ dmarc: 'follow', keepRejects: true });
  });

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

  test('destinations are asked first where the owner wants it, and the page says which have not answered', async () => {
    const path = `${acme.path}/forwarding`;
    expect(leads(await acme.owner.act(path, 'policy', { confirmExternal: 'true' }))).toBe(`303 ${path}?done=policy`);
    const fields = { sourceAddress: 'sales@acme.test', destinationAddress: 'boss@elsewhere.example' };
    expect(leads(await acme.owner.act(path, 'set', fields))).toBe(`303 ${path}?done=set`);
    const queried = (await acme.owner.get(path)).text;
    expect(queried).toContain('Pending');
    expect(queried).toContain('Do not require confirmation');
    expect(leads(await acme.owner.act(path, 'policy', { confirmExternal: 'false' }))).toBe(`303 ${path}?done=policy`);
    expect((await acme.owner.get(path)).text).toContain('Require confirmation');
  });

  test('held mail is seen, released and cancelled', async () => {
    const { body } = await tool(base, 'reveal_email_credentials', { address: 'anna@acme.test' }, acme.token);
    const { password } = body['imap'] as { password: string };
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
    expect((await other.owner.get(`${other.path}/queue`)).text).toContain('The queue is empty');
    expect(leads(await other.owner.act(`${other.path}/queue`, 'cancel', { queueId: idOf(to[0] ?? '') }))).toBe('422 ');
    expect(leads(await acme.owner.act(path, 'cancel', { queueId: idOf(to[0] ?? '') }))).toBe(
      `303 ${path}?done=cancelled`,
    );
    expect(leads(await acme.owner.act(path, 'release', { queueId: idOf(to[1] ?? '') }))).toBe(
      `303 ${path}?done=released`,
    );
    expect((await acme.owner.get(path)).text).not.toContain(`${path}/${idOf(to[0] ?? '')}"`);
  });

  test('what happened to a message is found by its id, its Message-ID or an address, by its own organization', async () => {
    const path = `${acme.path}/trace`;
    const by = (words: string, who = acme): Promise<string> =>
      who.owner.get(`${who.path}/trace?q=${encodeURIComponent(words)}`).then((said) => said.text);
    const found = await by('two@remote.example');
    for (const said of ['Accepted for sending by anna@acme.test', 'Held: local mode', 'Released'])
      expect(found).toContain(said);
    const id = /<dt>ID<\/dt>\s*<dd>([a-z2-7]{20})<\/dd>/.exec(found)?.[1] ?? expect.fail(found);
    const messageId = /<dd>&lt;([^<>&\s]+)&gt;<\/dd>/.exec(found)?.[1] ?? expect.fail(found);
    for (const words of [id, messageId, `<${messageId}>`, 'Two@REMOTE.example']) {
      expect(await by(words)).toContain('Held: local mode');
      expect(await by(words, other)).toContain('No message found');
    }
    expect(await by('"><script>alert(1)</script>@x.test')).not.toContain('<script>alert');
    expect((await acme.owner.get(`${acme.path}/mailboxes/mbx_2`)).text).toContain(`${path}?q=anna%40acme.test`);
    const said = await fetch(`${base}/api/email/trace?messageId=${id}`, {
      headers: { authorization: `Bearer ${acme.token}` },
    });
    expect(await said.json()).toMatchObject({ message: { messageId: id }, envelope: { mailFrom: 'anna@acme.test' } });
  });

  test('a person is invited by mail, joins as member, and sees only mailboxes of their own', async () => {
    const invited = await acme.owner.act(`${acme.path}/members`, 'invite', { email: box.address, role: 'member' });
    expect(leads(invited)).toBe(`303 ${acme.path}/members?done=invited`);
    const token = await mailedLink('/auth/invite');
    const member = new Visitor(base);
    expect((await member.get(`/auth/invite?token=${token}`)).text).toContain('Join Acme');
    const fields = { token, password: 'a member of Acme', displayName: 'Mia' };
    expect(leads(await member.post('/auth/invite', fields))).toBe(`303 ${acme.path}?done=joined`);
    expect((await member.get(`${acme.path}/mailboxes`)).text).toContain(
      'Ask an administrator of this organization for a mailbox.',
    );
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
    const queried = await Promise.all(
      [box.address, 'nobody@example.test', 'ada@example.test', 'nonsense'].map((email) =>
        new Visitor(base).post('/auth/reset', { email }),
      ),
    );
    expect(new Set(queried.map((one) => `${one.status} ${one.text}`)).size).toBe(1);
    await box.logged((line) => line.msg === 'password reset requested' && line['outcome'] === 'sent');
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
    const { body } = await tool(base, 'list_emails', {}, acme.token);
    const boxes = body['mailboxes'] as { id: string; address: string }[];
    const page = `${acme.path}/mailboxes/${boxes.find((one) => one.address === address)?.id}`;
    const fields = { name: 'phone', scopes: ['imap'], person: 'true' };
    const password = /aria-label="Password">([^<]+)</.exec((await acme.owner.act(page, 'make-app', fields)).text)?.[1];
    const { owner, path } = await ownedOrganization(base, 'Berts', address);
    expect((await owner.get(path)).text).toContain('you receive no notices of this organization');
    expect((await owner.get('/account')).text).toContain('Your address is not verified.');
    expect(leads(await owner.act('/account', 'prove'))).toBe('303 /account?done=mailed');
    const token = await mailedLink('/auth/prove', address, password);
    const form = await acme.owner.formToken('/account');
    expect((await acme.owner.post('/auth/prove', { token, form })).status).toBe(403);
    expect((await new Visitor(base).get(`/auth/prove?token=${token}`)).text).toContain('Sign in first');

    // The claim letter came there too: it proves nothing without the sign-in, and with it as well.
    const claim = await mailedLink('/auth/setup', address, password);
    const reader = new Visitor(base);
    expect((await reader.post('/auth/setup', { token: claim, password: 'a reader of the mail' })).status).toBe(422);
    expect((await owner.get('/account')).text).toContain('Your address is not verified.');
    const own = await owner.formToken('/account');
    expect(leads(await owner.post('/auth/prove', { token, form: own }))).toBe('303 /account?done=proven');
    expect((await owner.get('/account?done=proven')).text).not.toContain('is not verified');
    expect((await owner.get(path)).text).not.toContain('is not verified');
    expect((await owner.post('/auth/prove', { token, form: own })).status).toBe(410);
  });

  test('the operator sees every organization, and freezes one', async () => {
    const visitor = await operator();
    const path = '/o/org_1/organizations';
    expect((await visitor.get(path)).text).toContain('Other');
    expect((await acme.owner.get(`${acme.path}/organizations`)).status).toBe(404);
    expect(leads(await visitor.act(path, 'freeze', { organization: other.id }))).toBe(`303 ${path}?done=frozen`);
    expect((await other.owner.get(other.path)).status).toBe(404);
    expect((await other.owner.get('/account')).text).toContain('Frozen by the operator');
    await visitor.act(path, 'unfreeze', { organization: other.id });
    expect((await other.owner.get(other.path)).status).toBe(200);

    const gone = await ownedOrganization(base, 'Gone', 'gone@example.test');
    const wrong = await visitor.act(path, 'remove', { organization: gone.id, confirm: 'other' });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('This is a different slug.')]);
    expect(leads(await visitor.act(path, 'remove', { organization: gone.id, confirm: 'gone' }))).toContain(
      'done=removed',
    );
    expect((await gone.owner.get(gone.path)).status).not.toBe(200);
    expect((await tool(base, 'whoami', {}, gone.token)).status).toBe(401);

    expect((await visitor.get(path)).text).toContain('Removed for good after');
    expect(leads(await visitor.act(path, 'restore', { organization: gone.id }))).toContain('done=restored');
    expect((await gone.owner.get(gone.path)).status).toBe(200);
    expect((await tool(base, 'whoami', {}, gone.token)).status).toBe(200);
    expect(leads(await visitor.act(path, 'purge', { organization: gone.id, confirm: 'gone' }))).toContain(
      'done=purged',
    );
    expect((await visitor.get(path)).text).not.toContain(gone.id);
  });
});
