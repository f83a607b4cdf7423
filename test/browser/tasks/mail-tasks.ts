import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { expect } from 'vitest';
import { tool } from '../../support/mcp.ts';
import { type PortalBox, Visitor } from '../../support/visitor.ts';
import type { TaskVisitor } from './portal-tasks.ts';

/** Mailbox of the tasks of web mail. */
const MAILBOX = 'anna@acme.test';

/** The password of the mailbox. */
async function passwordOf({ base, acme }: PortalBox): Promise<string> {
  const { body } = await tool(base, 'reveal_email_credentials', { address: MAILBOX }, acme.token);
  return (body['imap'] as { password: string }).password;
}

/** Delivers a message from a stranger. */
export async function deliver(
  { box }: PortalBox,
  mail: { from?: string; subject: string; text: string },
): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  await transport.sendMail({ from: 'Ada Lovelace <ada@remote.example>', to: MAILBOX, ...mail });
  transport.close();
}

/** Stores messages that arrived at other times. */
export async function appendMail(portal: PortalBox, mails: readonly { at: Date; subject: string }[]): Promise<void> {
  const auth = { user: MAILBOX, pass: await passwordOf(portal) };
  const tls = { rejectUnauthorized: false };
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: portal.box.port('imaps'),
    secure: true,
    auth,
    tls,
    logger: false,
  });
  await client.connect();
  for (const { at, subject } of mails) {
    const head = `From: billing@remote.example\r\nTo: ${MAILBOX}\r\nDate: ${at.toUTCString()}\r\nSubject: ${subject}\r\n`;
    await client.append('INBOX', `${head}\r\nText of ${subject}.\r\n`, [], at);
  }
  await client.logout();
}

/** Cookie of a session of web mail, by the box: the tasks are not about signing in. */
const SESSIONS = new WeakMap<PortalBox, Promise<string>>();

async function mailSession(portal: PortalBox): Promise<string> {
  const visitor = new Visitor(portal.base);
  await visitor.post('/mail/sign-in', { address: MAILBOX, password: await passwordOf(portal) });
  return visitor.cookieOf('mailstead-mail');
}

/** Opens web mail, signed in. */
export async function openMail({ page, portal }: TaskVisitor): Promise<void> {
  const session = SESSIONS.get(portal) ?? mailSession(portal);
  SESSIONS.set(portal, session);
  const cookie = { name: 'mailstead-mail', url: portal.base, httpOnly: true, sameSite: 'Lax' } as const;
  await page.context().addCookies([{ ...cookie, value: await session }]);
  // The first page of a box is the slowest beside other suites.
  await page.goto(`${portal.base}/mail`, { waitUntil: 'commit', timeout: 60_000 });
  await page.getByRole('region', { name: 'Messages' }).waitFor({ timeout: 60_000 });
}

/** Opens a conversation from the list, and waits for its text. */
export async function openConversation({ page }: TaskVisitor, subject: string, text: string): Promise<void> {
  await page.locator('.row a', { hasText: subject }).first().click();
  await page.getByRole('region', { name: 'Conversation' }).getByText(text).first().waitFor();
}

/** An answer of an agent that waits for a person; its subject. */
export async function heldAnswer({ screen, portal }: TaskVisitor, word: string): Promise<string> {
  const { base, acme } = portal;
  const subject = `${word} ${screen}`;
  await deliver(portal, { subject, text: 'Please answer.' });
  const input = { name: `agent ${subject}`, actions: ['read', 'manage'] };
  const { body: made } = await tool(base, 'create_agent_token', input, acme.token);
  const call = async (name: string, more: object): Promise<Record<string, unknown>> =>
    (await tool(base, name, { mailbox: MAILBOX, ...more }, String(made['secret']))).body;
  const idOf = async (): Promise<string | undefined> => {
    const { messages } = (await call('list_messages', {})) as { messages: { id: string }[] };
    return messages.find((one) => JSON.stringify(one).includes(`"${subject}"`))?.id;
  };
  await expect.poll(idOf).toBeDefined();
  const messageId = await idOf();
  await call('get_message', { messageId });
  const to = ['somebody.else@elsewhere.example'];
  const sent = await call('reply_to_email', { messageId, text: `Answer to ${subject}.`, cc: to });
  expect(JSON.stringify(sent)).toContain('pending_approval');
  return subject;
}
