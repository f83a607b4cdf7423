import { once } from 'node:events';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { changeBox } from '../support/box-database.ts';

let box: Box;
beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

const me = { address: 'me@box.test' };

async function imap(pass: string, user = box.address): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    tls: { rejectUnauthorized: false },
    auth: { user, pass },
    logger: false,
  });
  // Without a listener, a closed connection would be an unhandled error.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

function send(pass: string, user = box.address, to = box.address): Promise<unknown> {
  return createTransport({
    host: '127.0.0.1',
    port: box.port('submissions'),
    secure: true,
    auth: { user, pass },
    tls: { rejectUnauthorized: false },
  }).sendMail({ from: user, to, subject: 'sent', text: 'hello' });
}

async function appPassword(more: object): Promise<{ id: string; password: string }> {
  const made = (await box.ask('create_app_password', { ...me, name: 'test', ...more })) as {
    appPassword: { id: string };
    password: string;
  };
  return { id: made.appPassword.id, password: made.password };
}

/** Resolves when the server has closed a session that was open before `change`. */
async function endsAfter(client: ImapFlow, change: () => Promise<unknown>): Promise<void> {
  await client.mailboxOpen('INBOX');
  const closed = once(client, 'close', { signal: AbortSignal.timeout(10_000) });
  await change();
  await closed;
}

describe('an app password', () => {
  test('is valid for its scopes only', async () => {
    const [reads, sends] = [await appPassword({ scopes: ['imap'] }), await appPassword({ scopes: ['smtp'] })];
    const client = await imap(reads.password);
    await client.logout();
    await expect(send(reads.password)).rejects.toThrow(/535/);
    await expect(imap(sends.password)).rejects.toThrow();
    expect(await send(sends.password)).toMatchObject({ accepted: [box.address] });
  });

  test('that is read-only can read all and change nothing', async () => {
    expect(await send(box.password)).toMatchObject({ accepted: [box.address] });
    const { password } = await appPassword({ readOnly: true });
    await expect(send(password)).rejects.toThrow(/535/);
    const client = await imap(password);
    const inbox = await client.mailboxOpen('INBOX');
    expect(inbox.readOnly).toBe(true);
    const message = await client.fetchOne('1', { source: true, flags: true });
    if (message === false || message === undefined) return expect.fail('no message');
    expect(message.source?.toString()).toContain('Subject: sent');
    expect(await client.messageFlagsAdd('1', ['\\Deleted', '\\Seen'])).toBe(false);
    expect(await client.messageDelete('1')).toBe(false);
    expect(await client.messageCopy('1', 'Archive')).toBe(false);
    expect(await client.messageMove('1', 'Trash')).toBe(false);
    await expect(client.append('INBOX', 'Subject: x\r\n\r\nx\r\n')).rejects.toThrow();
    await expect(client.mailboxCreate('New')).rejects.toThrow();
    await expect(client.mailboxDelete('Archive')).rejects.toThrow();
    await expect(client.mailboxRename('Archive', 'Old')).rejects.toThrow();
    await client.logout();

    const owner = await imap(box.password);
    expect((await owner.list()).map((one) => one.path)).toEqual([
      'INBOX',
      'Sent',
      'Drafts',
      'Archive',
      'Junk',
      'Trash',
    ]);
    await owner.mailboxOpen('INBOX');
    const after = await owner.fetchOne('1', { flags: true });
    expect(after === false ? undefined : after?.flags?.size).toBe(0);
    expect(await owner.status('Archive', { messages: true })).toMatchObject({ messages: 0 });
    await owner.logout();
  });

  test('closes its open sessions at once when revoked, and no others', async () => {
    const { id, password } = await appPassword({});
    const other = await imap(box.password);
    const client = await imap(password);
    await endsAfter(client, () => box.ask('revoke_app_password', { ...me, appPasswordId: id }));
    await expect(imap(password)).rejects.toThrow();
    await other.noop();
    await other.logout();
  });

  test('is invalid after its expiry', async () => {
    const { password } = await appPassword({ expiresAt: new Date(Date.now() + 10_000).toISOString() });
    await (await imap(password)).logout();
    await expect
      .poll(
        () =>
          imap(password).then(
            (client) => client.logout().then(() => 'in'),
            () => 'refused',
          ),
        { timeout: 60_000, interval: 500 },
      )
      .toBe('refused');
  });
});

describe('the sessions of a mailbox', () => {
  async function mailbox(localPart: string): Promise<{ address: string; password: string }> {
    const address = `${localPart}@box.test`;
    await box.ask('provision_email', { domain: 'box.test', localPart });
    const { imap: server } = (await box.ask('reveal_email_credentials', { address })) as { imap: { password: string } };
    return { address, password: server.password };
  }

  test('are closed at once when the password changes or the mailbox is deleted', async () => {
    const { address, password } = await mailbox('gone');
    await endsAfter(await imap(password, address), () => box.ask('rotate_email_credentials', { address }));
    const { imap: server } = (await box.ask('reveal_email_credentials', { address })) as { imap: { password: string } };
    await endsAfter(await imap(server.password, address), () => box.ask('delete_email', { address }));
    await expect(imap(server.password, address)).rejects.toThrow();
    await expect(send(box.password, box.address, address)).rejects.toThrow(/550/);
  });
});

describe('a domain whose sending is paused', () => {
  const setPaused = async (at: number | null): Promise<void> => {
    await box.stop();
    await changeBox(box.dataDir, 'UPDATE domain SET paused_at = ?', at);
    await box.start();
  };

  test('sends nothing, reports why, and still receives', async () => {
    await setPaused(Date.now());
    await expect(send(box.password)).rejects.toThrow(
      /550.*Sending from box\.test is paused: its DNS records have been wrong for three days/s,
    );
    const unlocked = createTransport({ host: '127.0.0.1', port: box.port('smtp'), tls: { rejectUnauthorized: false } });
    const message = { from: 'friend@elsewhere.example', to: box.address, subject: 'from outside', text: 'hello' };
    expect(await unlocked.sendMail(message)).toMatchObject({ accepted: [box.address] });
    expect(await box.ask('list_email_domains')).toMatchObject({
      domains: [{ domain: 'box.test', sendingPaused: true }],
    });
    expect(await box.ask('list_emails')).toMatchObject({ mailboxes: [{ sendingPaused: true }] });
    await setPaused(null);
    expect(await send(box.password)).toMatchObject({ accepted: [box.address] });
  });
});
