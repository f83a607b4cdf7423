import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { changeBox, dumpOfBox, rowsOfBox } from '../support/box-database.ts';
import { JmapClient } from '../support/jmap-client.ts';
import { readAccount } from '../support/mail-facts.ts';
import { viewByImap, viewByJmap, viewByMcp, viewByPortal } from '../support/mailbox-views.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { outcome, rpc } from '../support/mcp.ts';
import { operatorOf, type Visitor } from '../support/visitor.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
/** For a start on a busy machine. */
const START_MS = 300_000;
const DAY_MS = 24 * 3600_000;
/** The purge begins a minute after the start. */
const PURGED_MS = 150_000;
/** Quota of the mailbox, octets. */
const QUOTA = 50_000_000;

/** Words of each message that are nowhere else; the first and the last are in its text. */
const WORDS = {
  byImap: ['Zyqimapsubject', 'zyqimapbody'],
  byJmap: ['Zyqjmapsubject', 'zyqjmapbody'],
  byMcp: ['Zyqmcpsubject', 'zyqmcpbody'],
  withFolder: ['Zyqfoldersubject', 'zyqfolderbody'],
} as const;

const ALL = Object.values(WORDS)
  .map(([subject]) => subject)
  .toSorted();
const ALL_WORDS = Object.values(WORDS).flat();

let box: Box;
let base: string;
let token: string;
let person: Visitor;
let imap: MailboxReader;
let jmap: JmapClient;
beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  await connect();
  const made = await box.ask('create_agent_token', { name: 'undelete', actions: ['read', 'mail_read', 'organize'] });
  token = (made as { secret: string }).secret;
  person = await operatorOf(box);
  jmap = await JmapClient.discover(base, { user: box.address, password: box.password });
  await box.ask('update_email', { address: box.address, quotaBytes: QUOTA });
}, START_MS);
afterAll(async () => {
  await box[Symbol.asyncDispose]();
});

async function connect(): Promise<void> {
  base = `http://127.0.0.1:${box.port('http')}`;
  imap = await MailboxReader.open(box.port('imap'));
}

async function say(command: string): Promise<string> {
  const answer = (await imap.command(command)).toString('latin1');
  if (!/^\d+ OK /m.test(answer)) throw new Error(`${command}: ${answer}`);
  return answer;
}

async function append(folder: string, [subject, body]: readonly [string, string], more = ''): Promise<void> {
  const head = `From: sender@far.example\r\nMessage-ID: <${body}@far.example>\r\nSubject: ${subject}\r\n\r\n`;
  const facts = `(\\Seen \\Flagged $Forwarded work) "01-Feb-2024 10:00:00 +0000"`;
  const answer = await imap.append(`${folder} ${facts}`, Buffer.from(`${head}${body} ${more}\r\n`));
  if (!/ OK /.test(answer)) throw new Error(answer);
}

/** Folder, flags, received date and hash of each message by its subject. */
async function facts(): Promise<Record<string, object>> {
  const folders = await readAccount(box.port('imap'));
  const found: Record<string, object> = {};
  for (const [folder, { messages }] of Object.entries(folders))
    for (const { flags, date, sha256 } of Object.values(messages)) found[sha256] = { folder, flags, date };
  return found;
}

interface OwnMailbox {
  id: number;
  address: string;
  messages: number;
  bytes: number;
}

async function own(): Promise<OwnMailbox> {
  const { mailboxes } = (await box.ask('list_box_mailboxes')) as { mailboxes: OwnMailbox[] };
  const found = mailboxes.find(({ address }) => address === box.address);
  if (found === undefined) throw new Error('there is no mailbox');
  return found;
}

const pageOf = async (): Promise<string> => `/o/org_1/mailboxes/mbx_${(await own()).id}`;

/** Subjects of `words`, in order. */
const subjectsOf = (...words: (readonly string[])[]): string[] => words.map(([subject = '']) => subject).toSorted();

/** Expects that IMAP, JMAP, MCP and the portal show these messages with their octets, and these as deleted. */
async function expectViews(there: string[], deleted: string[]): Promise<void> {
  const { messages, bytes } = await own();
  expect(messages).toBe(there.length);
  expect(bytes > 0).toBe(there.length > 0);
  expect(await viewByJmap(jmap)).toEqual({ subjects: there, used: bytes });
  expect(await viewByMcp(mcp, box.address)).toEqual({ subjects: there, used: bytes });
  const byImap = await viewByImap(imap);
  expect(byImap.subjects).toEqual(there);
  expect(Math.abs(byImap.used - bytes)).toBeLessThan(1024);
  const { deleted: listed, stored } = await viewByPortal(person, await pageOf());
  expect(listed).toEqual(deleted);
  expect(stored === '0 bytes').toBe(bytes === 0);
}

/** The story of each message: one in each folder that has its words. */
async function receiveAll(): Promise<void> {
  for (const folder of ['Projects', 'Projects/Alpha', 'Projects/Beta']) await say(`CREATE ${folder}`);
  await append('Projects/Alpha', WORDS.byImap);
  await append('Projects/Alpha', WORDS.byJmap);
  await append('Projects/Alpha', WORDS.byMcp);
  // Large enough for a file of its own.
  await append('Projects/Beta', WORDS.withFolder, 'padding '.repeat(20_000));
}

/** Searches, so that the words are in the full-text index. */
async function searchAll(): Promise<void> {
  await say('SELECT INBOX');
  for (const [, word] of Object.values(WORDS)) await say(`SEARCH BODY ${word}`);
  expect(await viewByMcp(mcp, box.address)).toMatchObject({ subjects: ALL });
}

async function mcp(name: string, args: object): Promise<Record<string, unknown>> {
  const said = await rpc(base, 'tools/call', { name, arguments: args }, { authorization: `Bearer ${token}` });
  const result = outcome(said);
  if ('error' in result) throw new Error(`${name}: ${said.text}`);
  return result;
}

const cli = async (...words: string[]): Promise<string> =>
  (await promisify(execFile)(COMMAND, words, { env: box.env })).stdout;

/** Deletes each message in another way, and then the folders that they were in. */
async function deleteAll(): Promise<void> {
  await say('SELECT Projects/Alpha');
  await say(`UID SEARCH SUBJECT ${WORDS.byImap[0]}`);
  const [, uid] = /\* SEARCH (\d+)/.exec(await say(`UID SEARCH SUBJECT ${WORDS.byImap[0]}`)) ?? [];
  await say(`UID STORE ${uid} +FLAGS (\\Deleted)`);
  await say(`UID EXPUNGE ${uid}`);

  const query = await jmap.call('Email/query', { filter: { subject: WORDS.byJmap[0] } });
  const done = await jmap.call('Email/set', { destroy: query['ids'] });
  expect(done['destroyed']).toHaveLength(1);

  const listed = await mcp('list_messages', { mailbox: box.address, folder: 'Alpha' });
  const [one] = listed['messages'] as { id: string }[];
  expect(await mcp('trash_message', { mailbox: box.address, messageIds: [one?.id] })).toMatchObject({
    moved: 1,
  });
  await say('SELECT Trash');
  await say('STORE 1:* +FLAGS (\\Deleted)');
  await say('EXPUNGE');
  await say('CLOSE');

  await say('DELETE Projects/Beta');
  await say('DELETE Projects/Alpha');
  await say('DELETE Projects');
}

/** As {@link filesWith}, and the dump of PostgreSQL with one of the words. */
async function copiesWith(words: readonly string[]): Promise<string[]> {
  const dump = (await dumpOfBox(box.dataDir)).toLowerCase();
  const forms = (word: string): string[] => [word, Buffer.from(word).toString('hex')].map((form) => form.toLowerCase());
  const dumped = words.filter((word) => forms(word).some((form) => dump.includes(form)));
  return [...filesWith(words), ...dumped.map((word) => `dump: ${word}`)];
}

/** Every file of the data directory with one of the words, which the index has in lower case. */
function filesWith(words: readonly string[]): string[] {
  const files = readdirSync(box.dataDir, { recursive: true, encoding: 'utf8' });
  return files.flatMap((file) => {
    const path = join(box.dataDir, file);
    if (!statSync(path).isFile()) return [];
    const text = readFileSync(path).toString('latin1').toLowerCase();
    return words.filter((word) => text.includes(word.toLowerCase())).map((word) => `${file}: ${word}`);
  });
}

/** Waits until the text index has no word; the server runs. */
async function expectIndexSwept(): Promise<void> {
  const words = (): string[] => filesWith(ALL_WORDS).filter((line) => line.startsWith('mailstead-text'));
  await expect.poll(words, { timeout: PURGED_MS, interval: 1_000 }).toEqual([]);
}

/** Expects that every word is still somewhere in the data directory or the database. */
async function expectAllKept(): Promise<void> {
  const kept = await copiesWith(ALL_WORDS);
  for (const word of ALL_WORDS)
    expect(
      kept.some((line) => line.endsWith(word)),
      word,
    ).toBe(true);
}

test(
  'mail deleted by IMAP, JMAP, MCP and with its folder comes back as it was on all of them, and does not count meanwhile',
  { timeout: START_MS },
  async () => {
    await receiveAll();
    await searchAll();
    const before = await facts();
    const threads = await threadsBySubject();
    const { bytes } = await own();
    await expectViews(ALL, []);
    await deleteAll();
    expect(await facts()).toEqual({});
    await expectViews([], ALL);

    // By the page of the portal.
    const path = `${await pageOf()}/deleted`;
    const rows = (await person.get(path)).text.split('<tr');
    const row = rows.find((line) => line.includes(WORDS.byImap[0])) ?? '';
    const [, messageId = ''] = /name="messageId" value="([^"]+)"/.exec(row) ?? [];
    expect((await person.act(path, 'restore', { messageId })).status).toBe(303);
    await expectViews(subjectsOf(WORDS.byImap), subjectsOf(WORDS.byJmap, WORDS.byMcp, WORDS.withFolder));
    // Agents may not restore what a person deleted for good: the answer says so.
    const refused = await rpc(
      base,
      'tools/call',
      { name: 'restore_deleted_messages', arguments: { address: box.address, since: '2020-01-01T00:00:00Z' } },
      { authorization: `Bearer ${token}` },
    );
    expect(refused.text).toContain('only for people');
    // By the command.
    expect(await cli('undelete', '--mailbox', box.address, '--since', '1h')).toMatch(
      /Projects\/Alpha +2\nProjects\/Beta +1|Projects\/Beta +1\nProjects\/Alpha +2/,
    );
    expect(await facts()).toEqual(before);
    expect(await threadsBySubject()).toEqual(threads);
    expect((await own()).bytes).toBe(bytes);
    await expectViews(ALL, []);
    // By MCP, from the trash, which counts.
    const listed = await mcp('list_messages', { mailbox: box.address, folder: 'Beta' });
    const [one] = listed['messages'] as { id: string }[];
    const which = { mailbox: box.address, messageIds: [one?.id] };
    expect(await mcp('trash_message', which)).toMatchObject({ moved: 1 });
    expect((await own()).bytes).toBe(bytes);
    expect(await mcp('restore_message', which)).toMatchObject({ moved: 1 });
    expect(await facts()).toEqual(before);
    await deleteAll();
  },
);

test(
  'what a person deletes permanently on the page is in no file a moment later, though the server was not restarted',
  { timeout: START_MS },
  async () => {
    await expectViews([], ALL);
    await expectAllKept();
    expect((await person.act(`${await pageOf()}/deleted`, 'purge', {})).status).toBe(303);
    await expectViews([], []);
    expect(await cli('undelete', '--mailbox', box.address)).toContain('Nothing was deleted since then.');
    await expectIndexSwept();
    // The write-ahead log, which has older pages, ends with the server.
    await stop();
    expect(await copiesWith(ALL_WORDS)).toEqual([]);
    await box.start();
    await connect();
  },
);

test(
  'mail whose time is over is purged after a start, and is in no file then',
  { timeout: START_MS + PURGED_MS * 2 },
  async () => {
    await receiveAll();
    await searchAll();
    await deleteAll();
    await stop();
    await expectAllKept();
    await changeBox(box.dataDir, 'UPDATE expunged SET at = at - ?', 31 * DAY_MS);
    await box.start();
    const count = async (): Promise<unknown> =>
      (await rowsOfBox(box.dataDir, 'SELECT count(*) AS n FROM email'))[0]?.['n'];
    await expect.poll(count, { timeout: PURGED_MS, interval: 1_000 }).toBe(0);
    await expectIndexSwept();
    await box.stop();
    expect(await copiesWith(ALL_WORDS)).toEqual([]);
  },
);

async function threadsBySubject(): Promise<Record<string, string>> {
  const { ids } = await jmap.call('Email/query', {});
  const { list } = await jmap.call('Email/get', { ids, properties: ['subject', 'threadId'] });
  const emails = list as { subject: string; threadId: string }[];
  return Object.fromEntries(emails.map(({ subject, threadId }) => [subject, threadId]));
}

async function stop(): Promise<void> {
  imap[Symbol.dispose]();
  await box.stop();
}
