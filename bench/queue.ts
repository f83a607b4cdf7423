import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { submit } from '../mail/delivery/submission-commit.ts';
import { unlimitedSubmission } from '../test/support/submission.ts';
import { quiet } from '../mail/log.ts';
import { indexMessage } from '../mail/message/indexer.ts';
import { listAccounts } from '../mail/store/account/account.ts';
import { MailStore } from '../mail/store/store.ts';
import { type Box, startBox } from '../test/support/box.ts';
import { dnsServer } from '../test/support/dns-server.ts';
import { SILENCE, scriptedServer } from '../test/support/scripted-smtp.ts';

/**
 * The queue with much in it, on the real process: how long a start takes and how much memory it needs with 100,000
 * messages for a destination that takes the connection and says nothing; how long new mail for a good one takes beside
 * them; and 5,000 for such a tarpit with 100 for a good one that were queued after them. `npm run bench:queue [messages]`.
 */
const MESSAGES = Math.max(1000, Number(process.argv[2] ?? 100_000));
const LIVE = 500;
const COMBINED = 500;
const ME = 'me@home.example';

const live = await scriptedServer();
const dead = await scriptedServer({ connect: SILENCE }, '127.0.0.2', live.port);
const dns = await dnsServer({ 'A live.example': ['127.0.0.1'], 'A dead.example': ['127.0.0.2'] });

/** A live-mode box on a directory of its own, with one mailbox; it is stopped. */
async function emptyBox(): Promise<{ box: Box; password: string; dataDir: string }> {
  const dataDir = await mkdtemp(join(process.env['BENCH_DIR'] ?? tmpdir(), 'queue-'));
  const settings = {
    RESOLVERS: dns.address,
    OUTBOUND_PORT: String(live.port),
    EXEMPT_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
  };
  const box = await startBox({ hostname: 'mail.home.example', settings: { ...settings, LOG_LEVEL: 'info' }, dataDir });
  await box.ask('add_domain', { domain: 'home.example' });
  const { password } = (await box.ask('add_mailbox', { address: ME })) as { password: string };
  await box.stop();
  return { box, password, dataDir };
}

/** Queues one message after the other, as submissions of the mailbox, by the store's own commands. */
async function fill(dataDir: string, messages: number, to: (n: number) => string): Promise<void> {
  const engine = new URL('../src/start/store-thread.ts', import.meta.url);
  const rest = { keepFree: 0, clock: Date.now, log: quiet, meter: quiet };
  const store = await MailStore.open({ dataDir, engine, ...rest, fatal: (error) => console.error(error) });
  const [account] = await store.read(listAccounts, undefined);
  if (account === undefined) throw new Error('there is no mailbox');
  const one = (n: number): Promise<unknown> => {
    const recipient = to(n);
    const data = Buffer.from(`From: ${ME}\r\nTo: ${recipient}\r\nMessage-ID: <${n}@home.example>\r\n\r\n${n}\r\n`);
    return store.write(
      submit,
      unlimitedSubmission({
        trace: `bench-${n}`,
        account: account.id,
        tenant: account.tenant,
        sender: ME,
        smtputf8: false,
        eightBit: false,
        ret: '',
        envid: '',
        signAs: ['home.example'],
        here: [],
        elsewhere: [{ recipient, domain: recipient.slice(recipient.indexOf('@') + 1), notify: '', orcpt: '' }],
        hold: null,
        data: Uint8Array.from(data),
        file: null,
        index: indexMessage(data),
      }),
    );
  };
  for (let n = 0; n < messages; n += COMBINED) {
    await Promise.all(Array.from({ length: Math.min(COMBINED, messages - n) }, (_, i) => one(n + i)));
  }
  await store[Symbol.asyncDispose]();
}

/** Resident memory of a process now and at most, MB. */
async function memory(pid: number): Promise<{ now: number; most: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return { now: Math.round(of('VmRSS')), most: Math.round(of('VmHWM')) };
}

const p95 = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? 0;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
const say = (what: string, figure: string): void => console.log(`| ${what} | ${figure} |`);

/** When each message for the live destination came, ms of this process's clock, by its first recipient. */
async function arrivals(from: number, count: number): Promise<Map<string, number>> {
  const came = new Map<string, number>();
  for (let seen = from; came.size < count;) {
    for (const mail of live.mails.slice(seen)) came.set(mail.to[0] ?? '', performance.now());
    seen = live.mails.length;
    await sleep(5);
  }
  return came;
}

async function besideBacklog(): Promise<void> {
  const { box, password, dataDir } = await emptyBox();
  const from = performance.now();
  await fill(dataDir, MESSAGES, (n) => `u${n}@dead.example`);
  say(`queueing ${MESSAGES} messages`, seconds(performance.now() - from));
  await box.start();
  say(`start with ${MESSAGES} queued`, seconds(box.startMs));
  await sleep(10_000);
  const { now, most } = await memory(box.pid);
  say('memory 10 s after it, and at most', `${now} MB, ${most} MB`);
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('submissions'),
    secure: true,
    pool: true,
    maxConnections: 5,
    auth: { user: ME, pass: password },
    tls: { rejectUnauthorized: false },
  });
  const sent = new Map<string, number>();
  const coming = arrivals(live.mails.length, LIVE);
  const sending: Promise<unknown>[] = [];
  for (let n = 0; n < LIVE; n++) {
    const to = `v${n}@live.example`;
    sent.set(to, performance.now());
    sending.push(transport.sendMail({ from: ME, to, subject: to, text: 'hello' }));
    await sleep(20);
  }
  await Promise.all(sending);
  const came = await coming;
  transport.close();
  const times = [...came].map(([to, at]) => at - (sent.get(to) ?? at));
  say(`p95 of ${LIVE} new ones for a live destination beside them, 50 a second`, seconds(p95(times)));
  const after = await memory(box.pid);
  say('memory then, and at most', `${after.now} MB, ${after.most} MB`);
  await box.kill();
  await rm(dataDir, { recursive: true });
}

async function besideTarpit(): Promise<void> {
  const { box, dataDir } = await emptyBox();
  await fill(dataDir, 5100, (n) => (n < 5000 ? `u${n}@dead.example` : `w${n}@live.example`));
  const coming = arrivals(live.mails.length, 100);
  await box.start();
  const started = performance.now();
  const times = [...(await coming).values()].map((at) => Math.max(0, at - started));
  say('p95 of 100 for a live destination, queued behind 5,000 for a tarpit, from the start', seconds(p95(times)));
  await box.kill();
  await rm(dataDir, { recursive: true });
}

console.log('| what | figure |\n|---|---|');
await besideBacklog();
await besideTarpit();
for (const one of [dns, dead, live]) await one[Symbol.asyncDispose]();
