import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grantMailbox } from '../../../mail/store/mailbox/acl.ts';
import { listMailboxes } from '../../../mail/store/mailbox/mailbox.ts';
import { endSessions, listSessions, SESSION_IDLE_MS } from '../../../src/people/session-commands.ts';
import { setFactorRule } from '../../../src/people/rule-commands.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { auditedOperations } from '../../support/factors.ts';
import { http } from '../../support/mcp.ts';
import { putMail } from '../../support/put-mail.ts';
import { leads, Visitor } from '../../support/visitor.ts';

let box: ConsentWorld;
beforeAll(async () => {
  box = await consentWorld();
});
afterAll(() => box[Symbol.asyncDispose]());

async function openMail({ visitor }: Someone, account: number, headers = {}) {
  const form = await visitor.formToken('/account');
  return visitor.post('/mail/open', { form, mailbox: `mbx_${account}` }, headers);
}

/** Status of the JMAP session for the browser: 200 while its mail is open. */
async function mailStatus({ visitor }: Someone): Promise<number> {
  const cookie = `mailstead-mail=${visitor.cookieOf('mailstead-mail')}`;
  return (await http('GET', `${box.base}/mail/jmap/session`, { cookie, 'sec-fetch-site': 'same-origin' })).status;
}

const member = (): Promise<Someone> => box.someone('member', 1, [box.anna]);

test('a member opens a mailbox of theirs with one click, and it stands in the audit log', async () => {
  const someone = await member();
  expect((await someone.visitor.get('/account')).text).toContain('Open mail');
  expect(leads(await openMail(someone, box.anna))).toBe('303 /mail');
  expect([await mailStatus(someone), (await someone.visitor.get('/mail')).status]).toEqual([200, 200]);
  const audited = await box.world.store.read(auditedOperations, { target: `mbx_${box.anna}` });
  expect(audited).toContain('open_web_mail');
});

test('nobody opens a mailbox that is not theirs: not another member, not the owner, not another organization', async () => {
  const other = await box.organization('Elsewhere');
  const people = [await member(), await box.someone('owner'), await box.someone('owner', other)];
  for (const one of people) {
    expect(leads(await openMail(one, box.bert))).toBe('303 /account?done=mailbox');
    expect(one.visitor.cookieOf('mailstead-mail')).toBe('');
  }
});

test('the form of another site, another session, or of nobody opens nothing', async () => {
  const [one, two] = [await member(), await member()];
  expect((await openMail(one, box.anna, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  const form = await two.visitor.formToken('/account');
  expect(leads(await one.visitor.post('/mail/open', { form, mailbox: `mbx_${box.anna}` }))).toBe('303 /account');
  expect(leads(await new Visitor(box.base).post('/mail/open', { mailbox: `mbx_${box.anna}` }))).toMatch(/^303 \/login/);
});

/** Calls a JMAP method as the browser does. */
async function jmap({ visitor }: Someone, method: string, args: object): Promise<[string, Record<string, unknown>]> {
  const cookie = `mailstead-mail=${visitor.cookieOf('mailstead-mail')}`;
  const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
  const body = JSON.stringify({ using, methodCalls: [[method, args, '0']] });
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const { json } = await http('POST', `${box.base}/mail/jmap/api`, headers, body);
  return (json as { methodResponses: [string, Record<string, unknown>][] }).methodResponses[0] ?? ['', {}];
}

test('folders that others share with the mailbox are shown, with their rights, until the share ends', async () => {
  const { store } = box.world;
  const someone = await member();
  await openMail(someone, box.anna);
  const accountId = `mbx_${box.bert}`;
  expect((await jmap(someone, 'Mailbox/get', { accountId }))[1]).toMatchObject({ type: 'accountNotFound' });
  const [inbox] = await store.read(listMailboxes, { account: box.bert });
  const grant = { account: box.bert, mailbox: inbox?.id ?? 0, address: 'anna@box.test', how: 'set' as const };
  await store.write(grantMailbox, { ...grant, rights: 'lrs' });
  const cookie = `mailstead-mail=${someone.visitor.cookieOf('mailstead-mail')}`;
  const session = await http('GET', `${box.base}/mail/jmap/session`, { cookie, 'sec-fetch-site': 'same-origin' });
  expect(session.json?.['accounts']).toMatchObject({ [accountId]: { name: 'bert@box.test', isPersonal: false } });
  const [, found] = await jmap(someone, 'Mailbox/get', { accountId });
  expect(found['list']).toMatchObject([{ myRights: { mayReadItems: true, maySetSeen: true, mayAddItems: false } }]);
  await store.write(grantMailbox, { ...grant, rights: '' });
  expect((await jmap(someone, 'Mailbox/get', { accountId }))[1]).toMatchObject({ type: 'accountNotFound' });
});

test('a person reads a message whose links act for a person, which programs see without them', async () => {
  const { store } = box.world;
  const someone = await member();
  await openMail(someone, box.anna);
  await putMail(
    store,
    { account: box.anna, receivedAt: box.clock.now },
    'Subject: invitation\n\nhttps://box.test/join\n',
  );
  using db = new DatabaseSync(store.database);
  db.prepare('UPDATE email SET redacted_from = 1 WHERE account_id = ?').run(box.anna);
  const accountId = `mbx_${box.anna}`;
  const [, { ids }] = await jmap(someone, 'Email/query', { accountId });
  const [, { list }] = await jmap(someone, 'Email/get', { accountId, ids, fetchTextBodyValues: true });
  expect(list).toMatchObject([{ subject: 'invitation', bodyValues: { 1: { value: 'https://box.test/join\n' } } }]);
});

const ENDINGS: readonly (readonly [string, (someone: Someone) => Promise<unknown>])[] = [
  ['signing out', ({ visitor }) => signOut(visitor)],
  ['the end of the session by another browser', ({ user }) => endAll(user)],
  ['leaving the organization', ({ user }) => box.leave(user)],
  ['losing the mailbox', ({ user }) => box.change(user, 'member', [box.bert])],
  ['two hours without use', async () => void (box.clock.now += SESSION_IDLE_MS)],
];

test.each(ENDINGS)('%s ends it at once', async (_name, end) => {
  const someone = await member();
  await openMail(someone, box.anna);
  expect(await mailStatus(someone)).toBe(200);
  await end(someone);
  expect(await mailStatus(someone)).toBe(401);
  expect(leads(await someone.visitor.get('/mail'))).toBe('303 /mail/sign-in');
});

test('a rule that the person does not meet ends it', async () => {
  const someone = await member();
  await openMail(someone, box.anna);
  const { store } = box.world;
  await store.write(setFactorRule, { organization: 1, rule: 'everybody' });
  expect(await mailStatus(someone)).toBe(401);
  await store.write(setFactorRule, { organization: 1, rule: 'none' });
  expect(await mailStatus(someone)).toBe(200);
});

test('reading mail keeps the session of the portal alive', async () => {
  const someone = await member();
  await openMail(someone, box.anna);
  for (let half = 0; half < 5; half++) {
    box.clock.now += SESSION_IDLE_MS / 2;
    expect(await mailStatus(someone)).toBe(200);
  }
  expect((await someone.visitor.get('/account')).status).toBe(200);
});

test('its open connections end when the session does', async () => {
  const ended: number[] = [];
  const world = await consentWorld({ revoked: (account) => void ended.push(account) });
  const someone = await world.someone('member', 1, [world.anna]);
  await someone.visitor.act('/account', 'others');
  expect(ended).toEqual([world.anna]);
  await world[Symbol.asyncDispose]();
});

async function signOut(visitor: Visitor): Promise<void> {
  const form = await visitor.formToken('/account');
  expect(leads(await visitor.post('/logout', { form }))).toBe('303 /login?done=out');
}

async function endAll(user: number): Promise<void> {
  const { store } = box.world;
  for (const { id } of await store.read(listSessions, { user, now: box.clock.now })) {
    await store.write(endSessions, { user, id });
  }
}
