import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { fuzzCount } from '../support/fuzz-count.ts';
import { fuzzRun, pieces, playSession, type FuzzSession } from '../support/fuzz-run.ts';
import { fuzzLine, type Random, seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const LINES = fuzzCount(100_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_123);
/** About as many as a session bears before it is sent away. */
const LINES_EACH = 14;
/** Below the number of sessions that an account may have. */
const LANES = 16;

const GREETING = { send: '', until: /^\* OK .*\r\n/ };
const say = (tag: string, line: string) => ({
  send: `${tag} ${line}\r\n`,
  until: new RegExp(`^(?:${tag}|\\+|\\* BYE) .*\r\n`, 'm'),
});
const IN = [GREETING, say('p1', 'LOGIN me@box.test correct-horse-battery')];
const STATES: Readonly<Record<string, FuzzSession['steps']>> = {
  'before the greeting': [],
  'not logged in': [GREETING],
  'logged in': IN,
  selected: [...IN, say('p2', 'SELECT INBOX')],
  'reading only': [...IN, say('p2', 'EXAMINE INBOX')],
  idle: [...IN, say('p2', 'SELECT INBOX'), say('p3', 'IDLE')],
  'in a literal': [...IN, say('p2', 'APPEND INBOX {300}')],
  'in a password': [GREETING, say('p1', 'AUTHENTICATE PLAIN')],
};

test(`${LINES} lines of nonsense over IMAP, seed ${SEED}`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  await load({ port: box.port('smtp'), queue: numberedMany('fuzz', 30, SEED), ledger: new Ledger(), clients: 2 });
  const random = seeded(SEED);
  const names = Object.keys(STATES);
  const sum = { answered: 0, swallowed: 0, sessions: 0 };
  const told = await fuzzRun(box, {
    lines: LINES,
    lanes: LANES,
    async next() {
      // COPY 1:* doubles a mailbox: what is made here does not stay.
      if (++sum.sessions % 50 === 0) await cleanUp(box.port('imap'));
      const tls = random(20) === 0;
      const lines = Array.from({ length: LINES_EACH }, (_, i) => `f${i} ${lineOf(random)}\r\n`);
      const { before, after, reset } = await playSession({
        port: box.port(tls ? 'imaps' : 'imap'),
        tls,
        steps: STATES[names[random(names.length)] ?? ''] ?? [],
        rest: pieces(Buffer.from(`${lines.join('')}${GOODBYE}`, 'latin1'), random),
        fill: Buffer.from(`${'x'.repeat(250_000)}\r\n${GOODBYE}`),
      });
      const said = before + after;
      // After STARTTLS and COMPRESS nonsense is a failed handshake: the reset that ends it takes responses away.
      const isLost = reset && lines.some((line) => RESETS.test(line));
      const where = JSON.stringify(lines);
      expect(said, where).not.toMatch(/SERVERBUG/);
      return classifier(lines, said, { where, isLost }, sum);
    },
  });
  console.log(`${told}; ${sum.swallowed} more were read as something else, seed ${SEED}`);
});

/** Ends IDLE and AUTHENTICATE, fills a small literal. */
const GOODBYE = `DONE\r\n*\r\n${'pad NOOP\r\n'.repeat(40)}zz LOGOUT\r\n`;

/** Also what is right, so that states are left and come to. */
function lineOf(random: Random): string {
  if (random(4) > 0) return fuzzLine(random);
  return GOOD[random(GOOD.length)] ?? 'NOOP';
}

const GOOD = [
  'SELECT INBOX',
  'EXAMINE Drafts',
  'FETCH 1:* (FLAGS UID)',
  'FETCH 1:5 BODY[]',
  'FETCH 2 (ENVELOPE BODYSTRUCTURE)',
  'STORE 1:3 +FLAGS (\\Seen $x)',
  'UID SEARCH TEXT number',
  'SEARCH OR SEEN NOT LARGER 5000',
  'LIST "" *',
  'STATUS INBOX (UNSEEN)',
  'COPY 1:2 Archive',
  'MOVE 1 Trash',
  'NOOP',
  'CHECK',
  'CLOSE',
  'UNSELECT',
  'CREATE a/b',
  'DELETE a/b',
  'RENAME a b',
  'LOGIN me@box.test correct-horse-battery',
  'APPEND Drafts {5+}\r\nX: y\n',
  'LOGIN {2+}\r\nab {1+}\r\nc',
  'ENABLE CONDSTORE',
  'ID NIL',
  'EXPUNGE',
  'SORT (REVERSE DATE) UTF-8 ALL',
  'UID SORT RETURN (UPDATE PARTIAL 1:5) (SUBJECT DISPLAYFROM) UTF-8 UNSEEN',
  'THREAD REFERENCES UTF-8 ALL',
  'UID THREAD REFS UTF-8 TEXT number',
  'REPLACE 1 Drafts {5+}\r\nX: y\n',
  'UID REPLACE 2 INBOX (\\Seen) {5+}\r\nX: y\n',
  'NOTIFY SET STATUS (selected (MessageNew (UID FLAGS) MessageExpunge)) (personal (MessageNew MessageExpunge MailboxName))',
  'NOTIFY SET (personal (MessageNew MessageExpunge FlagChange MailboxMetadataChange))',
  'NOTIFY NONE',
  'SETMETADATA INBOX (/private/comment "x" /shared/comment {2+}\r\nyz)',
  'GETMETADATA (DEPTH infinity) INBOX (/private /shared)',
  'SETMETADATA INBOX (/private/comment NIL)',
  'ESEARCH IN (personal) RETURN (COUNT MIN MAX) UNSEEN',
  'ESEARCH IN (mailboxes INBOX subtree a) TEXT number',
  'SEARCH RETURN (SAVE) SUBJECT fuzz',
  'UID FETCH $ (UID PREVIEW EMAILID)',
  'UIDBATCHES 500',
  'COMPRESS DEFLATE',
  'GETQUOTA ""',
  'GETQUOTAROOT INBOX',
  'SETACL a me@box.test lrs',
  'SETACL INBOX you@box.test +lrswite',
  'DELETEACL INBOX you@box.test',
  'GETACL INBOX',
  'LISTRIGHTS INBOX you@box.test',
  'MYRIGHTS INBOX',
  'LIST "" * RETURN (MYRIGHTS STATUS (MESSAGES SIZE) METADATA (/private/comment))',
  'ENABLE QRESYNC',
  'UNAUTHENTICATE',
];

/**
 * Answers how many lines were answered. Each tagged line is, unless a line before it said that what follows is no command: a literal, an IDLE that
 * waits for DONE, a login that waits for a response, TLS, compression.
 */
function classifier(
  lines: readonly string[],
  said: string,
  { where, isLost }: { where: string; isLost: boolean },
  sum: { answered: number; swallowed: number },
): number {
  const before = sum.answered;
  // Sent away before the goodbye was asked for: what came behind is not answered any more.
  const dismissed = /^\* BYE /m.test(said) && !/^zz OK /m.test(said);
  let swallowing = dismissed || isLost || /^\+/m.test(said.slice(0, said.search(/^f\d/m)));
  for (const [i, line] of lines.entries()) {
    if (new RegExp(`^f${i} (?:OK|NO|BAD)\\b`, 'm').test(said)) sum.answered++;
    else if (swallowing || CONTINUES.test(line)) sum.swallowed++;
    else expect.fail(`f${i} was not answered: ${where}\n${said}`);
    swallowing ||= CONTINUES.test(line);
  }
  return sum.answered - before;
}

const CONTINUES = /\{\d+\+?\}|IDLE|AUTHENTICATE|STARTTLS|COMPRESS/i;

const RESETS = /STARTTLS|COMPRESS/i;

const STAYS = ['INBOX', 'Drafts', 'Sent', 'Junk', 'Trash', 'Archive'];

/** Leaves 30 messages in a mailbox, and no mailbox that was not there at first. */
async function cleanUp(port: number): Promise<void> {
  using reader = await MailboxReader.open(port);
  const listed = (await reader.command('LIST "" *')).toString('latin1');
  for (const [, name = ''] of listed.matchAll(/^\* LIST \(.*\) "\/" (.*)\r$/gm)) {
    if (!STAYS.includes(name)) await reader.command(`DELETE ${name}`);
  }
  for (const name of STAYS) {
    const selected = (await reader.command(`SELECT ${name}`)).toString('latin1');
    if (Number(/^\* (\d+) EXISTS/m.exec(selected)?.[1]) <= 30) continue;
    await reader.command('STORE 31:* +FLAGS.SILENT (\\Deleted)');
    await reader.command('EXPUNGE');
  }
}
