import { afterAll, beforeAll, expect, test } from 'vitest';
import { WritingWorld } from '../../support/writing.ts';

let world: WritingWorld;
beforeAll(async () => {
  world = await WritingWorld.open();
});
afterAll(() => world[Symbol.asyncDispose]());

const to = ['you@else.test'];
const mail = (text: string): object => ({ from: world.address, to, subject: 'Hello', text });
async function refused(args: object): Promise<object> {
  const done = await world.tenants.try('send_email', args);
  if (done.kind === 'done') throw new Error(JSON.stringify(done.result));
  return done.refusal;
}
const REFUSED = { error: 'secret_in_message' };

test('a password that was revealed does not leave, and the refusal does not show it', async () => {
  const { imap, jmap } = (await world.tenants.do('reveal_email_credentials', { mailboxId: world.mailbox })) as Record<
    'imap' | 'jmap',
    Record<string, string>
  >;
  const password = imap['password'] ?? '';
  const token = jmap['token'] ?? '';
  for (const text of [password, Buffer.from(password).toString('base64'), token]) {
    const refusal = await refused(mail(`As you asked: ${text}`));
    expect(refusal).toMatchObject({ ...REFUSED, kinds: ['password'] });
    expect(JSON.stringify(refusal)).not.toContain(text);
  }
});

test('nor does an app password, a rotated password, a signing secret, an email API key or the own token', async () => {
  const { tenants } = world;
  const app = await world.tenants.do('create_app_password', { mailboxId: world.mailbox, name: 'phone' });
  const rotated = await world.tenants.do('rotate_email_credentials', { mailboxId: world.mailbox, reveal: true });
  const hook = await world.tenants.do('set_email_inbound_webhook', {
    mailboxId: world.mailbox,
    url: 'https://hooks.example.com/mail',
  });
  const key = await tenants.do('create_email_api_key', { name: 'shop', projectId: tenants.a.main.projectId });
  const secrets: [unknown, string][] = [
    [app['password'], 'password'],
    [rotated['password'], 'password'],
    [hook['signingSecret'], 'webhook_secret'],
    [key['secret'], 'token'],
    [tenants.a.secret, 'token'],
  ];
  for (const [secret, kind] of secrets) {
    const text = Array.from(String(secret)).toReversed().join(' ');
    expect(await refused(mail(text))).toMatchObject({ ...REFUSED, kinds: [kind] });
  }
});

test('a secret as the name of a recipient in Bcc is found; mail without one goes', async () => {
  const bcc = [`${world.tenants.a.secret}@else.test`];
  expect(await refused({ ...mail('Hello'), bcc })).toMatchObject(REFUSED);
  expect(await world.tenants.do('send_email', mail('Hello'))).toMatchObject({ status: 'queued' });
});
