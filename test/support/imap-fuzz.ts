import { PASSWORD, USER } from './imap-world.ts';
import type { ImapClient, ImapWorld } from './imap-world.ts';

/** Numbers from 0 up to `below`, the same ones for the same seed. */
export type Random = (below: number) => number;

/** Mulberry32. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const VERBS =
  'CAPABILITY NOOP LOGOUT ID STARTTLS AUTHENTICATE LOGIN ENABLE LIST LSUB SUBSCRIBE UNSUBSCRIBE NAMESPACE CREATE DELETE RENAME STATUS SELECT EXAMINE APPEND IDLE CHECK CLOSE UNSELECT EXPUNGE SEARCH FETCH STORE COPY MOVE UID SORT THREAD ESEARCH CANCELUPDATE UIDBATCHES REPLACE NOTIFY GETMETADATA SETMETADATA COMPRESS GETQUOTA GETQUOTAROOT SETQUOTA SETACL DELETEACL GETACL LISTRIGHTS MYRIGHTS GETJMAPACCESS UNAUTHENTICATE XYZZY';
const WORDS = VERBS.split(' ');
const UIDS = [
  'UID FETCH',
  'UID STORE',
  'UID COPY',
  'UID MOVE',
  'UID EXPUNGE',
  'UID SEARCH',
  'UID SORT',
  'UID THREAD',
  'UID REPLACE',
];
const PIECES = [
  '(CONDSTORE)',
  '(QRESYNC (1001 1))',
  '(QRESYNC (1001 1 1:5 (1,3 2,4)))',
  '(QRESYNC (1001',
  '(QRESYNC (1001 18446744073709551616))',
  'FLAGS (CHANGEDSINCE 1)',
  'FLAGS (CHANGEDSINCE 0 VANISHED)',
  '(UNCHANGEDSINCE 1)',
  'MODSEQ 1',
  'MODSEQ "/flags/a" all 1',
  'QRESYNC',
  'IMAP4rev2 UTF8=ACCEPT',
  '1',
  '1:*',
  '*',
  '0',
  '4294967295',
  '4294967296',
  '2,1:3,*:1',
  '1:*,'.repeat(200),
  '(',
  ')',
  '((((((((',
  '"',
  '"a',
  '\\',
  'INBOX',
  'inbox/x',
  '"a b"',
  '&AOQ-',
  '&',
  '&&&',
  '"%"',
  '*',
  '%%%*%*',
  'a/b/c',
  '//',
  '""',
  '{0}',
  '{3+}\r\nabc',
  '{3}',
  '{40+}',
  '{-1}',
  '{1x}',
  '~{3}',
  '{99999999999999999999}',
  '{4294967295}',
  '{200000+}\r\n',
  'NIL',
  '()',
  '(\\Seen)',
  '\\Seen',
  'FLAGS',
  '+FLAGS',
  '-FLAGS.SILENT',
  '(FLAGS UID)',
  'FULL',
  'ALL',
  'BODY[]',
  'BODY.PEEK[1.2.MIME]<0.10>',
  'BODY[HEADER.FIELDS (A B)]',
  'BODY[',
  ']',
  '<0.0>',
  '<0.4294967295>',
  'ENVELOPE',
  'BODYSTRUCTURE',
  'RFC822',
  'RFC822.SIZE',
  'INTERNALDATE',
  'BINARY[1]',
  'CHARSET',
  'UTF-8',
  'KOI8-R',
  'RETURN',
  '(MIN MAX COUNT ALL)',
  'NOT',
  'OR',
  'OR '.repeat(300),
  'TEXT',
  'HEADER',
  'SUBJECT',
  'KEYWORD',
  'BEFORE',
  '1-Jan-2026',
  '31-Feb-2026',
  '"17-Jul-1996 02:44:25 -0700"',
  'UNSEEN',
  'LARGER',
  'UID',
  'SINCE',
  'OLDER',
  'DONE',
  '(SUBJECT)',
  '(REVERSE DATE DISPLAYFROM)',
  '(REVERSE REVERSE',
  'UTF-8 ALL',
  'REFERENCES',
  'REFS UTF-8',
  'ORDEREDSUBJECT US-ASCII SUBJECT a',
  'RETURN (UPDATE ALL)',
  'RETURN (PARTIAL 1:10 COUNT)',
  'RETURN (PARTIAL -1:-4294967295 SAVE)',
  'RETURN (SAVE)',
  '$',
  'FUZZY',
  'IN (mailboxes (INBOX Drafts) subtree "a")',
  'IN (personal selected)',
  'IN (subtree-one (((',
  'SET (personal (MessageNew MessageExpunge FlagChange MailboxName SubscriptionChange))',
  'SET STATUS (selected-delayed (MessageNew (UID BODY.PEEK[]) MessageExpunge))',
  'SET (subtree ("" a) (MailboxMetadataChange ServerMetadataChange))',
  'SET (mailboxes INBOX NONE)',
  'NONE',
  '(DEPTH infinity MAXSIZE 10)',
  '(/private/comment)',
  '(/shared/comment "x" /private/a NIL)',
  '/private/%',
  '(/private/comment {5+}\r\na\0b\xffc)',
  'DEFLATE',
  '(STORAGE 512)',
  '(STORAGE 18446744073709551616)',
  'me@box.test lrswite',
  'nobody@box.test +lrs',
  '-x',
  'anyone ""',
  'UID BODY[] <',
  'CATENATE (TEXT {3+}\r\nabc URL "/INBOX/;UID=1/;SECTION=1")',
  'CATENATE (URL "/;UID=1/;PARTIAL=4294967295.4294967295")',
  'CATENATE (',
  'UTF8 (~{4+}\r\nab\r\n)',
  'RETURN (MYRIGHTS METADATA (/private/comment))',
  '500 1:10',
  '4294967296 4294967296:1',
  '(MESSAGES UIDNEXT)',
  'RETURN (STATUS (UNSEEN))',
  '(SUBSCRIBED)',
  '(USE (\\Sent))',
  'PLAIN',
  'AG1lAGE=',
  '=',
  '\xe4\xf6',
  '\0',
  '\r',
  '\x7f',
];

/** One line after its tag: mostly something like a command, a little broken. */
export function fuzzLine(random: Random): string {
  const verb = random(3) === 0 ? pick(random, UIDS) : pick(random, WORDS);
  const pieces = Array.from({ length: random(6) }, () => pick(random, PIECES));
  const line = [verb, ...pieces].join(random(8) === 0 ? '' : ' ');
  return random(4) === 0 ? mutate(random, line) : line;
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

function mutate(random: Random, line: string): string {
  const at = random(line.length + 1);
  switch (random(4)) {
    case 0:
      return line.slice(0, at) + String.fromCharCode(random(256)) + line.slice(at);
    case 1:
      return line.slice(0, at) + line.slice(at + 1);
    case 2:
      return line.slice(0, at);
    default:
      return line + line.slice(at);
  }
}

/** Limits that would end a session that talks nonsense. */
export const PATIENT = { badCommands: 1e9, commandsBeforeLogin: 1e9, failedLogins: 1e9, commandsEachMinute: 1e9 };

const STATES: Record<string, readonly string[]> = {
  'before login': [],
  'logged in': [`LOGIN ${USER} ${PASSWORD}`],
  selected: [`LOGIN ${USER} ${PASSWORD}`, 'SELECT INBOX'],
  'reading only': [`LOGIN ${USER} ${PASSWORD}`, 'EXAMINE INBOX'],
};

// Fills any small literal that the line may have announced, and ends IDLE and AUTHENTICATE.
const FILLER = 'pad NOOP\r\n'.repeat(8);
/** Fills a large one, in few commands. */
const LARGE_FILLER = `pad ${'X'.repeat(1000)}\r\n`.repeat(250);

/**
 * Says `lines` lines of nonsense from each state and answers those that got neither a tagged answer nor a BYE: none.
 * Rejects when the server does not answer at all.
 */
export async function fuzz(world: ImapWorld, seed: number, lines: number): Promise<string[]> {
  const unanswered: string[] = [];
  for (const [state, commands] of Object.entries(STATES)) {
    const random = seeded(seed);
    let client: ImapClient | undefined;
    for (let count = 0; count < lines; count += 1) {
      // A fresh connection now and then, as the state wanders.
      if (client === undefined || client.socket.destroyed || count % 20 === 0)
        client = await reopen(world, client, commands);
      const line = fuzzLine(random);
      if (!(await answered(client, line, count))) unanswered.push(`${state}: ${JSON.stringify(line)}`);
    }
    client?.socket.destroy();
  }
  return unanswered;
}

async function reopen(world: ImapWorld, old: ImapClient | undefined, commands: readonly string[]): Promise<ImapClient> {
  old?.socket.destroy();
  const client = await world.connect();
  for (const command of commands) await client.command(command);
  return client;
}

async function answered(client: ImapClient, line: string, count: number): Promise<boolean> {
  const ours = `f${count} `;
  const last = `z${count} `;
  const filler = /\{\d{3,}\+?\}/.test(line) ? LARGE_FILLER : FILLER;
  client.send(`${ours}${line}\r\n${filler}${last}NOOP\r\n`);
  // A literal that is longer still may have swallowed the last command: a mutation made it, and nobody fills it.
  const patience = setTimeout(() => client.socket.destroy(), 5000);
  // After these the connection is no longer plain.
  const encoded = [`${ours}OK Begin TLS negotiation now`, `${ours}OK DEFLATE active`];
  const lines = await client.until((each) => each.startsWith(last) || encoded.includes(each));
  clearTimeout(patience);
  const isEncoded = encoded.includes(lines.at(-1) ?? '');
  if (isEncoded) client.socket.destroy();
  const endless = lines.at(-1) === '(closed)' && /\{\d{6,}\+\}/.test(line);
  return isEncoded || endless || lines.some((each) => each.startsWith(ours) || each.startsWith('* BYE'));
}
