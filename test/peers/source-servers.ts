import { ImapFlow } from 'imapflow';
import { startCyrus } from '../support/cyrus.ts';
import { oddMail } from '../support/odd-mail.ts';
import { Random } from '../support/random.ts';
import { startDovecot } from './dovecot.ts';

/** A server of others that mailboxes are pulled from. */
export interface SourceServer extends AsyncDisposable {
  port: number;
  users: readonly string[];
  password: string;
  /** Kills it like a crash and starts it again. */
  crash(): Promise<void>;
}

export const SOURCES = {
  async Dovecot(mailboxes: number): Promise<SourceServer> {
    const dovecot = await startDovecot();
    const users = Array.from({ length: mailboxes }, (_, n) => `user${n}`);
    return { ...dovecot, users, password: 'any' };
  },
  async Cyrus(mailboxes: number): Promise<SourceServer> {
    const cyrus = await startCyrus({ users: mailboxes });
    const { imapPort: port, users, password } = cyrus;
    return {
      port,
      users,
      password,
      crash: () => cyrus.crash(),
      [Symbol.asyncDispose]: () => cyrus[Symbol.asyncDispose](),
    };
  },
} as const;

const FOLDERS = [
  'Sent',
  'Trash',
  'Work',
  'Work.Old mail',
  'Work.Old mail.Very old',
  'Ünïcode & more',
  '日本語.深い',
  'with "quotes"',
  'back\\slash',
  'INBOX.below inbox',
  '100% *wild*',
];

/** Names that a server, an encoding or a file system may take for something else. */
const oddNames = (n: number): string[] => [
  `Müller & Söhne ${n}`,
  `文書 ${n}`,
  `الأرشيف ${n}`,
  `😀 ${n}`,
  `e\u0301 ${n}`,
  `&${n}-`,
  `~${n}`,
  `it's "${n}"\\`,
  `%${n}*`,
  `${'long '.repeat(20)}${n}`,
  `Deep ${n}.a.b.c.d`,
  `case ${n}`,
  `CASE ${n}`,
  `new ${n}.cur.tmp`,
  `+${n}, {${n}}`,
];
const ODD_FOLDERS = Array.from({ length: 22 }, (_, n) => oddNames(n)).flat();
/** Folders that a server has to take of those, so that the test is one of odd names. */
const LEAST_ODD_FOLDERS = 200;

/** Flags of RFC 9051 in the order of their bits. */
const FLAGS = ['\\Seen', '\\Answered', '\\Flagged', '\\Draft', '\\Deleted'];

export interface MailboxContents {
  /** Folders there, which the messages go into in turn. */
  folders: readonly string[];
  messages: number;
  seed: number;
}

/**
 * Creates the folders of a mailbox, as far as the server takes their names, and returns all folders there. `odd`: also hundreds of
 * folders with odd names. For one user at a time: Debian's Cyrus takes the ids of folders from rand(), which its processes seed
 * with the time in seconds. Folders of two users that are created in the same second by two processes can get one id, and then
 * are one folder: each has the messages of both.
 */
export async function createFolders(source: SourceServer, user: string, odd: boolean): Promise<string[]> {
  const flow = await loggedIn(source, user);
  const wanted = odd ? [...FOLDERS, ...ODD_FOLDERS] : FOLDERS;
  for (const folder of wanted) await flow.mailboxCreate(folder.split('.')).catch(throwUnlessRefused);
  const listed = (await flow.list()).filter(({ flags }) => !flags.has('\\Noselect') && !flags.has('\\NonExistent'));
  await flow.logout();
  const folders = listed.map(({ path }) => path);
  const least = odd ? LEAST_ODD_FOLDERS : FOLDERS.length / 2;
  if (folders.length < least) throw new Error(`the server took ${folders.length} of ${wanted.length} folders only`);
  return folders;
}

/** Most messages with one content, about: Debian's Cyrus refuses the 101st in one mailbox ("Too many identical emails"). */
const EQUAL_MESSAGES = 50;

/** Fills the folders of a mailbox: all flags, and contents that are there several times. Returns the number of messages that were taken. */
export async function fillMailbox(
  source: SourceServer,
  user: string,
  { folders, messages, seed }: MailboxContents,
): Promise<number> {
  const flow = await loggedIn(source, user);
  const random = new Random(seed);
  const mail = oddMail(messages, seed).filter(({ octets }) => !octets.includes(0));
  const repeated = mail.slice(0, Math.ceil((messages * 0.1) / EQUAL_MESSAGES));
  let taken = 0;
  for (const [at, { octets, flags, receivedAt }] of mail.entries()) {
    const folder = folders[at % folders.length] ?? 'INBOX';
    const content = random.chance(0.1) ? random.one(repeated).octets : octets;
    const all = [...FLAGS.filter((_, bit) => (flags.bits & (1 << bit)) !== 0), ...flags.keywords];
    const date = new Date(Math.floor(receivedAt / 1000) * 1000);
    if (await isAppended(flow, folder, content, all, date)) taken++;
  }
  await flow.logout();
  return taken;
}

async function loggedIn({ port, password }: SourceServer, user: string): Promise<ImapFlow> {
  const flow = new ImapFlow({ host: '127.0.0.1', port, secure: false, auth: { user, pass: password }, logger: false });
  await flow.connect();
  return flow;
}

function throwUnlessRefused(error: unknown): void {
  if ((error as { responseStatus?: string }).responseStatus === undefined) throw error;
}

async function isAppended(
  flow: ImapFlow,
  folder: string,
  content: Buffer,
  flags: string[],
  at: Date,
): Promise<boolean> {
  try {
    return (await flow.append(folder, content, flags, at)) !== false;
  } catch (error) {
    // Cyrus refuses a message without a header.
    if (!/contains invalid header/.test((error as { responseText?: string }).responseText ?? '')) throw error;
    return false;
  }
}
