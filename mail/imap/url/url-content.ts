import { MessageContent } from '../fetch/content.ts';
import type { ImapMailboxInfo, MessageRow } from '../imap-store.ts';
import type { Session } from '../session.ts';
import { parseImapUrl, type ImapUrl } from './imap-url.ts';

/** Octets read at once. */
const CHUNK = 256 * 1024;

/** Opens the octets that a URL names, for CATENATE; undefined: there are none, or it names another server or user. */
export async function findUrlContent(session: Session, text: string): Promise<AsyncIterable<Buffer> | undefined> {
  const url = parseImapUrl(text);
  if (url === undefined || !isOwn(session, url)) return undefined;
  const mailbox = await mailboxOf(session, url);
  if (mailbox === undefined) return undefined;
  const [row] = await session.store.rows(mailbox, [url.uid], { structure: true });
  // An expunged message has no save date: what left its mailbox has no URL any more.
  if (row === undefined || row.savedAt === null) return undefined;
  // The copy will be a message of this user: an agent that made it counts as having read its source.
  await session.store.onRead?.([row.emailId], 'read');
  return readSection(session, row, url);
}

async function readSection(
  session: Session,
  row: MessageRow,
  url: ImapUrl,
): Promise<AsyncIterable<Buffer> | undefined> {
  const read = (start: number, length: number): Promise<Buffer> => session.store.bytes(row.content, start, length);
  const { section, partial } = url;
  const item = { kind: 'section' as const, name: '', section, peek: true, ...(partial && { partial }) };
  const content = await new MessageContent(row, read).open(item);
  if (content.kind === 'nil') return undefined;
  return content.kind === 'octets' ? one(content.octets) : range(read, content.start, content.length);
}

async function* one(octets: Buffer): AsyncGenerator<Buffer> {
  yield octets;
}

async function* range(
  read: (start: number, length: number) => Promise<Buffer>,
  start: number,
  length: number,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += CHUNK) yield await read(start + at, Math.min(CHUNK, length - at));
}

/** An absolute URL must name this account; its host is not compared, as a server has several names. */
function isOwn({ login }: Session, { user }: ImapUrl): boolean {
  if (user === undefined || login === undefined) return user === undefined;
  return user.toLowerCase() === `${login.address.local}@${login.address.domain}`.toLowerCase();
}

/** Number of the mailbox; undefined: it does not exist, or has another UIDVALIDITY. */
async function mailboxOf(session: Session, url: ImapUrl): Promise<number | undefined> {
  if (url.mailbox === undefined) return session.selected?.shared.mailbox;
  const found: ImapMailboxInfo | undefined = await session.store.mailbox(url.mailbox);
  const isSame = url.uidValidity === undefined || url.uidValidity === found?.uidValidity;
  return isSame ? found?.id : undefined;
}
