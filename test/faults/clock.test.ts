import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { dnsServer, type DnsServer } from '../support/dns-server.ts';
import { expectIntegrity, UNDER_LOAD } from '../support/faults.ts';
import { tool } from '../support/mcp.ts';
import { cpuOfProcess } from '../support/process-cost.ts';
import { type Action, type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const LIBRARY = '/usr/$LIB/faketime/libfaketimeMT.so.1';
const ME = 'me@clock.example';
const DAY_MS = 24 * 3_600_000;
const SHORT_MS = 5_000;
/** The first purge comes a minute after the start. */
const PURGE_MS = 150_000;

const directory = mkdtempSync(join(tmpdir(), 'clock-'));
const offset = join(directory, 'offset');
let receiver: ScriptedServer;
let dns: DnsServer;
let box: Box;
let password: string;
/** Recipients that the receiver defers. */
let refused = /./;

const setClock = (value: string): void => writeFileSync(offset, `${value}\n`);

beforeAll(async () => {
  setClock('+0');
  receiver = await scriptedServer({
    rcpt: (line): Action | undefined => (refused.test(line) ? '451 4.3.0 later' : undefined),
  });
  dns = await dnsServer({ 'A far.example': ['127.0.0.1'] });
  box = await startBox({
    hostname: 'mail.clock.example',
    settings: {
      ...UNDER_LOAD,
      LOG_LEVEL: 'info',
      RESOLVERS: dns.address,
      OUTBOUND_PORT: String(receiver.port),
      MAILBOX_NEW_RECIPIENTS: '0',
      SENDING_RAMP: 'off',
    },
    wrapper: [
      'env',
      `LD_PRELOAD=${LIBRARY}`,
      `FAKETIME_TIMESTAMP_FILE=${offset}`,
      'FAKETIME_NO_CACHE=1',
      'FAKETIME_DONT_FAKE_MONOTONIC=1',
      'TZ=UTC',
    ],
  });
  operator('domain', 'add', 'clock.example');
  ({ password } = operator('mailbox', 'add', ME) as { password: string });
});
afterAll(async () => {
  for (const one of [box, dns, receiver]) await one[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

function operator(...words: string[]): unknown {
  const said = spawnSync(COMMAND, [...words, '--json', '--data-dir', box.dataDir], { encoding: 'utf8' });
  if (said.status !== 0) throw new Error(said.stderr);
  return JSON.parse(said.stdout);
}

async function send(to: string): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('submissions'),
    secure: true,
    auth: { user: ME, pass: password },
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({ from: ME, to, subject: to, text: to });
  transport.close();
}

/** Schedules a message for the next day. */
async function schedule(): Promise<void> {
  const { secret } = (await box.ask('create_agent_token', { name: 'sends', actions: ['send'] })) as { secret: string };
  const sendAt = new Date(Date.now() + DAY_MS).toISOString();
  const mail = { from: ME, to: ME, subject: 'tomorrow', text: 'tomorrow', sendAt };
  const { status, text } = await tool(`http://127.0.0.1:${box.port('http')}`, 'send_email', mail, secret);
  expect(status, text).toBeLessThan(300);
}

/** An IMAP session over TLS. */
async function session(): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    auth: { user: ME, pass: password },
    tls: { rejectUnauthorized: false },
    logger: false,
    disableAutoIdle: true,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** A session over TLS that began before a jump goes on, as its timers do not follow the clock, and a new one begins. */
async function expectSessions(open: ImapFlow): Promise<void> {
  await open.noop();
  expect(open.usable).toBe(true);
  const other = await session();
  await other.logout();
}

/** An agent token that expires after some ms. */
async function tokenFor(ms: number): Promise<string> {
  const expiresAt = new Date(Date.now() + ms).toISOString();
  const made = await box.ask('create_agent_token', { name: `${ms} ms`, actions: ['read'], expiresAt });
  return (made as { secret: string }).secret;
}

/** HTTP status of a call with a token. */
async function statusOf(token: string): Promise<number> {
  return (await tool(`http://127.0.0.1:${box.port('http')}`, 'list_emails', {}, token)).status;
}

/** Puts one message into the trash and deletes another. */
async function deleteSome(): Promise<void> {
  const client = await session();
  const message = 'From: a@far.example\r\nSubject: kept\r\n\r\nkept\r\n';
  for (const folder of ['Trash', 'INBOX']) await client.append(folder, message);
  await client.mailboxOpen('INBOX');
  await client.messageDelete('1');
  await client.logout();
}

/** Counts rows beside the server, as a program that only reads. */
function count(table: string, where = '1'): number {
  using db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true });
  return Number(db.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).get()?.['n']);
}

const everything = (): Record<string, number> => ({
  deleted: count('expunged'),
  messages: count('email'),
  scheduled: count('scheduled'),
});

/** Waits for a line of the log that is printed after `from` lines. */
const logged = (msg: string, from: number): Promise<unknown> =>
  expect
    .poll(() => box.log.slice(from).some((line) => line.msg === msg), { timeout: PURGE_MS, interval: 200 })
    .toBe(true);

/** Share of one processor that the process uses while nothing happens. */
async function idleShare(): Promise<number> {
  const from = performance.now();
  const before = cpuOfProcess(box.pid);
  await delay(4_000);
  return (cpuOfProcess(box.pid) - before) / (performance.now() - from);
}

const recipients = (): string[] => receiver.mails.flatMap(({ to }) => to).toSorted();

/** Starts again with the clock at `value`. */
async function restartAt(value: string): Promise<void> {
  await box.stop();
  setClock(value);
  await box.start();
}

test('a clock that jumps a year ahead, a day back and to 1970: nothing is purged, sent early or sent twice, no expired token works again, and sessions go on', async () => {
  await deleteSome();
  await schedule();
  for (const one of ['a@far.example', 'b@far.example', 'late@far.example']) await send(one);
  await expect.poll(() => count('queue', 'attempts > 0')).toBe(3);
  const before = everything();
  expect(before).toMatchObject({ deleted: 1, scheduled: 1 });
  const shares = [await idleShare()];
  const [forDay, forSeconds] = [await tokenFor(DAY_MS), await tokenFor(SHORT_MS)];
  await expect.poll(() => statusOf(forSeconds), { timeout: PURGE_MS }).toBe(401);
  expect(await statusOf(forDay)).toBe(200);
  const open = await session();
  let from = box.log.length;

  setClock('+1y');
  refused = /late@/;
  await logged('system clock jumped forward, nothing is purged until it is confirmed', from);
  await expect.poll(recipients, { timeout: PURGE_MS }).toEqual(['a@far.example', 'b@far.example']);
  await logged('purges wait until the system clock is confirmed', from);
  expect(everything()).toEqual(before);
  expect(await statusOf(forDay)).toBe(401);
  await expectSessions(open);
  shares.push(await idleShare());

  from = box.log.length;
  setClock('+0');
  refused = /^$/;
  await logged('system clock confirmed, purges continue', from);
  await expect.poll(recipients, { timeout: PURGE_MS }).toHaveLength(3);
  expect(await statusOf(forDay)).toBe(200);
  await expectSessions(open);

  from = box.log.length;
  setClock('-1d');
  await logged('system clock jumped back, the time before is used until it is confirmed', from);
  await send('c@far.example');
  await expect.poll(recipients, { timeout: PURGE_MS }).toHaveLength(4);
  // Expired stays expired.
  expect([await statusOf(forDay), await statusOf(forSeconds)]).toEqual([200, 401]);
  await expectSessions(open);
  open.close();
  shares.push(await idleShare());
  // The time goes on: after the year ahead, only the correction is a step back.
  expect(count('journal AS a JOIN journal AS b ON b.id = a.id + 1', 'b.at < a.at - 60000')).toBe(1);

  from = box.log.length;
  await restartAt('@1970-01-02 00:00:00');
  await send('d@far.example');
  await expect.poll(recipients, { timeout: PURGE_MS }).toHaveLength(5);
  await logged('purges wait until the system clock is confirmed', from);
  expect(count('journal', `at < ${Date.now() - DAY_MS}`)).toBe(0);
  expect([await statusOf(forDay), await statusOf(forSeconds)]).toEqual([200, 401]);
  shares.push(await idleShare());

  from = box.log.length;
  await restartAt('+1y');
  await logged('purges wait until the system clock is confirmed', from);
  expect(everything()).toEqual(before);
  expect(await statusOf(forDay)).toBe(401);

  await restartAt('+0');
  expect([await statusOf(forDay), await statusOf(forSeconds)]).toEqual([200, 401]);
  expect(recipients()).toEqual(['a', 'b', 'c', 'd', 'late'].map((one) => `${one}@far.example`));
  expect(operator('undelete', '--mailbox', ME)).toMatchObject({ restored: [{ folder: 'INBOX' }] });
  expect(Math.max(...shares), 'share of a processor while idle').toBeLessThan(0.5);
  await box.stop();
  expectIntegrity(box.dataDir);
  console.log(`idle: ${shares.map((share) => `${(100 * share).toFixed(1)} %`).join(', ')} of a processor`);
}, 900_000);
