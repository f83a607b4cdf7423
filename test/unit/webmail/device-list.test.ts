import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAppPassword, listAppPasswords } from '../../../mail/store/account/credential.ts';
import { openMailSession } from '../../../src/webmail-sessions/commands.ts';
import { newSecret } from '../../../src/people/secrets.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { http } from '../../support/mcp.ts';
import { appCredential } from '../../../src/accounts/new-credential.ts';
import { accountSalt } from '../../../mail/store/account/credential.ts';
import { leads } from '../../support/visitor.ts';

let box: ConsentWorld;
beforeAll(async () => {
  box = await consentWorld();
});
afterAll(() => box[Symbol.asyncDispose]());

/** An app password, and a browser that signed in to web mail with it. */
async function withMail(account: number, name: string): Promise<{ credential: number; cookie: string }> {
  const { store } = box.world;
  const salt = await store.read(accountSalt, { account });
  const row = { name, scopes: ['imap', 'jmap'], expiresAt: null };
  const credential = salt && (await appCredential({ password: `password of ${name}`, ...salt }, row));
  if (credential === undefined) throw new Error('no mailbox');
  const added = await store.write(addAppPassword, { account, credential, by: null });
  if (added.kind !== 'added') throw new Error(added.kind);
  const { secret, hash } = newSecret();
  const browser = { ip: '192.0.2.7', agent: 'Firefox/140.0 Linux', before: null };
  await store.write(openMailSession, { account, credential: added.id, hash, ...browser });
  return { credential: added.id, cookie: `mailstead-mail=${secret}` };
}

const isOpen = async (cookie: string): Promise<boolean> =>
  (await http('GET', `${box.base}/mail/jmap/session`, { cookie, 'sec-fetch-site': 'same-origin' })).status === 200;

const listed = async ({ visitor }: Someone): Promise<string> => {
  const { text } = await visitor.get('/account');
  return text.slice(text.indexOf('<h2>Devices</h2>'));
};

const mailSession = (text: string): string =>
  /value="end-mail"[^>]*>\s*<input[^>]*name="session" value="(\d+)"/.exec(text)?.[1] ?? '';

test('the list has sessions of the portal, of web mail, and app passwords of own mailboxes only', async () => {
  const [anna, bert] = [await box.someone('member', 1, [box.anna]), await box.someone('member', 1, [box.bert])];
  await withMail(box.anna, 'phone of anna');
  const [own, other] = [await listed(anna), await listed(bert)];
  for (const said of ['Current', 'Firefox on Linux', '192.0.2.7', 'phone of anna', 'IMAP, JMAP'])
    expect(own).toContain(said);
  expect(other).not.toContain('phone of anna');
  expect(other).not.toContain('192.0.2.7');
});

test('one session of web mail is ended, by nobody but people of the mailbox', async () => {
  const [anna, bert] = [await box.someone('member', 1, [box.anna]), await box.someone('member', 1, [box.bert])];
  const { cookie } = await withMail(box.anna, 'tablet');
  const session = mailSession(await listed(anna));
  expect(session).not.toBe('');
  await bert.visitor.act('/account', 'end-mail', { session });
  expect(await isOpen(cookie)).toBe(true);
  expect(leads(await anna.visitor.act('/account', 'end-mail', { session }))).toBe('303 /account?done=ended');
  expect(await isOpen(cookie)).toBe(false);
});

test('all others end at once, and app passwords stay', async () => {
  const anna = await box.someone('member', 1, [box.anna]);
  const { cookie, credential } = await withMail(box.anna, 'laptop');
  expect(leads(await anna.visitor.act('/account', 'others'))).toBe('303 /account?done=others');
  expect([await isOpen(cookie), (await anna.visitor.get('/account')).status]).toEqual([false, 200]);
  const left = await box.world.store.read(listAppPasswords, { account: box.anna });
  expect(left.map(({ id }) => id)).toContain(credential);
});

test('an app password is revoked by people of the mailbox, and its sessions end', async () => {
  const [anna, bert] = [await box.someone('member', 1, [box.anna]), await box.someone('member', 1, [box.bert])];
  const { cookie, credential } = await withMail(box.anna, 'old phone');
  const form = { mailbox: `mbx_${box.anna}`, password: `pwd_${credential}` };
  expect(leads(await bert.visitor.act('/account', 'revoke', form))).toBe('303 /account?done=kept');
  expect(await isOpen(cookie)).toBe(true);
  expect(leads(await anna.visitor.act('/account', 'revoke', form))).toBe('303 /account?done=revoked');
  expect(await isOpen(cookie)).toBe(false);
  expect(leads(await anna.visitor.act('/account', 'revoke', form))).toBe('303 /account?done=kept');
});
