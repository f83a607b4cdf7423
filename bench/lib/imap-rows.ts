import { ImapLoadClient } from './imap-client.ts';
import type { Subject } from './mailstead.ts';
import { message } from './messages.ts';

/** One measured command. `run` does the work once and returns ms on the side of the client. */
export interface ImapRow {
  name: string;
  run(subject: Subject, mailbox: FilledMailbox, round: number): Promise<number>;
}

export interface FilledMailbox {
  client: ImapLoadClient;
  user: string;
  messages: number;
}

const OCTETS = 4096;
const FILLERS = 4;

/** Fills the INBOX of the first user over some connections. */
export async function fill(subject: Subject, messages: number): Promise<FilledMailbox> {
  const user = userOf(subject);
  let next = 0;
  await Promise.all(
    Array.from({ length: FILLERS }, async () => {
      const client = await ImapLoadClient.login(subject.imapPort, user, subject.password);
      while (next < messages) await append(client, 'INBOX', next++);
      client.close();
    }),
  );
  const client = await ImapLoadClient.login(subject.imapPort, user, subject.password);
  await client.run('CREATE appended');
  await client.run('SELECT INBOX');
  return { client, user, messages };
}

/** The login name: with the domain here, the local part at the peer. */
function userOf(subject: Subject): string {
  const [user = ''] = subject.users;
  return subject.name === 'mailstead' ? `${user}@${subject.domain}` : user;
}

/** Appends a message whose date is spread over 200 days. */
function append(client: ImapLoadClient, mailbox: string, n: number): Promise<number> {
  const octets = message(n, OCTETS, 'imap');
  const date = new Date(Date.UTC(2026, 0, 1 + (n % 200), 12)).toUTCString().split(' ');
  const [, day, month, year, time] = date;
  return client.run([`APPEND ${mailbox} () "${day}-${month}-${year} ${time} +0000" {${octets.length}+}\r\n`, octets]);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** A row that is one command in the open mailbox. */
function command(name: string, text: (mailbox: FilledMailbox, round: number) => string): ImapRow {
  return { name, run: (_subject, mailbox, round) => timed(() => mailbox.client.run(text(mailbox, round))) };
}

/** Runs `work` on ten connections at once. Returns ms without their logins. */
async function onTen(
  subject: Subject,
  user: string,
  work: (client: ImapLoadClient, n: number) => Promise<void>,
): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: 10 }, () => ImapLoadClient.login(subject.imapPort, user, subject.password)),
  );
  const ms = await timed(() => Promise.all(clients.map(work)));
  for (const client of clients) client.close();
  return ms;
}

/** Median of the ms from the OK of APPEND to the EXISTS of a client in IDLE. At least 0.01: EXISTS may come first. */
async function idleDelay(subject: Subject, user: string): Promise<number> {
  const [idle, other] = [
    await ImapLoadClient.login(subject.imapPort, user, subject.password),
    await ImapLoadClient.login(subject.imapPort, user, subject.password),
  ];
  await idle.run('SELECT appended');
  const delays: number[] = [];
  const stop = await idle.idle();
  for (let n = 0; n < 21; n++) {
    const notified = idle.next('EXISTS').then(() => performance.now());
    await append(other, 'appended', n);
    const accepted = performance.now();
    delays.push((await notified) - accepted);
  }
  await stop();
  idle.close();
  other.close();
  return Math.max(0.01, delays.sort((a, b) => a - b)[10] ?? 0);
}

const LAST = (count: number) => (mailbox: FilledMailbox) => `${mailbox.messages - count + 1}:${mailbox.messages}`;

export const IMAP_ROWS: readonly ImapRow[] = [
  {
    name: 'login and SELECT',
    run: (subject, { user }) =>
      timed(async () => {
        const client = await ImapLoadClient.login(subject.imapPort, user, subject.password);
        await client.run('SELECT INBOX');
        client.close();
      }),
  },
  command('FLAGS of all', () => 'FETCH 1:* (FLAGS)'),
  command('page of 50', (box) => `FETCH ${LAST(50)(box)} (UID FLAGS INTERNALDATE RFC822.SIZE ENVELOPE BODYSTRUCTURE)`),
  command('ENVELOPE and BODYSTRUCTURE of all', () => 'FETCH 1:* (UID FLAGS ENVELOPE BODYSTRUCTURE)'),
  command('1,000 bodies', (box) => `FETCH ${LAST(1000)(box)} (BODY.PEEK[])`),
  command('SEARCH SUBJECT', () => 'SEARCH SUBJECT "zafu"'),
  command('SEARCH SINCE', () => 'UID SEARCH SINCE 1-Jun-2026'),
  command('SEARCH FROM', () => 'UID SEARCH FROM "nobody-such"'),
  command('SORT SUBJECT', () => 'UID SORT (SUBJECT) UTF-8 ALL'),
  command('SORT REVERSE DATE', () => 'UID SORT (REVERSE DATE) UTF-8 ALL'),
  command('THREAD REFERENCES', () => 'UID THREAD REFERENCES UTF-8 ALL'),
  command('SEARCH TEXT', () => 'SEARCH TEXT "zebrafinch"'),
  command(
    'STORE of 10,000 flags',
    (box, round) => `STORE 1:${Math.min(10_000, box.messages)} ${round % 2 ? '-' : '+'}FLAGS.SILENT (\\Flagged)`,
  ),
  {
    name: 'APPEND of 100, one by one',
    run: (_subject, { client }) =>
      timed(async () => {
        for (let n = 0; n < 100; n++) await append(client, 'appended', n);
      }),
  },
  {
    name: 'APPEND of 300 on 10 connections',
    run: (subject, { user }) =>
      onTen(subject, user, async (client, n) => {
        for (let one = 0; one < 30; one++) await append(client, 'appended', 30 * n + one);
      }),
  },
  {
    name: '100 logins on 10 connections',
    run: (subject, { user }) =>
      timed(() =>
        Promise.all(
          Array.from({ length: 10 }, async () => {
            for (let n = 0; n < 10; n++) (await ImapLoadClient.login(subject.imapPort, user, subject.password)).close();
          }),
        ),
      ),
  },
  { name: 'IDLE: EXISTS after the OK of APPEND', run: (subject, { user }) => idleDelay(subject, user) },
  {
    name: 'MOVE of 1,000',
    async run(_subject, { client }, round) {
      await client.run(`CREATE moved${round}`);
      const out = await timed(() => client.run(`MOVE 1:1000 moved${round}`));
      await client.run(`SELECT moved${round}`);
      await client.run('MOVE 1:* INBOX');
      await client.run('SELECT INBOX');
      return out;
    },
  },
];
