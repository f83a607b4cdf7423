import { setTimeout as sleep } from 'node:timers/promises';
import { dnsServer } from '../test/support/dns-server.ts';
import { type Figures, ingest, type Load, lastHeader } from './lib/ingest-load.ts';
import { makeSenders } from './lib/judged-mail.ts';
import { startFiltered } from './lib/judged-ours.ts';
import { startFilteredPeer } from './lib/judged-peer.ts';
import type { Subject } from './lib/mailstead.ts';
import { memoryKib } from './lib/process.ts';

/**
 * Filtered mail: Mailstead in live mode with all its checks, against Debian's Postfix and Dovecot with
 * Rspamd as milter (SPF, DKIM, DMARC, its rules, Bayes), interleaved in one run, DNS on loopback. Mail is signed by eight
 * domains and passes. `npm run bench:judged [rounds]`; needs root and postfix, dovecot-imapd, dovecot-lmtpd, rspamd and
 * redis-server. BENCH_DIR says which disk to use. BENCH_ONLY=ours or peer runs one side.
 */
const ROUNDS = Math.max(1, Number(process.argv[2] ?? 5));
const OCTETS = 4096;
const MAILBOXES = 10;
/** Until what nobody needs any more is given back. */
const AT_REST_MS = 30_000;
const only = process.env['BENCH_ONLY'];

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
};

await using stack = new AsyncDisposableStack();
const senders = makeSenders();
const dns = stack.use(await dnsServer(senders.zone));
const raise = async (subject: Promise<Subject>): Promise<Subject> => {
  const raised = await subject;
  stack.defer(() => raised.stop());
  return raised;
};
const subjects: { subject: Subject; messages: number }[] = [];
if (only !== 'peer') {
  subjects.push({ subject: await raise(startFiltered(MAILBOXES, dns.address, 'on')), messages: 1_000 });
  subjects.push({ subject: await raise(startFiltered(MAILBOXES, dns.address, 'off')), messages: 2_000 });
}
if (only !== 'ours') {
  subjects.push({ subject: await raise(startFilteredPeer(MAILBOXES, dns.address, senders)), messages: 300 });
}

const load = (connections: number): Omit<Load, 'messages'> => ({
  connections,
  octets: OCTETS,
  oneEach: false,
  lmtp: false,
  mail: senders.mail,
  sender: senders.sender,
});

/** Asserts that the measured work was done. */
async function prove(subject: Subject): Promise<void> {
  const header = await lastHeader(subject, 'Authentication-Results');
  const missing = ['spf=pass', 'dkim=pass', 'dmarc=pass'].filter((one) => !header.includes(one));
  if (missing.length > 0) throw new Error(`${subject.name} did not find ${missing.join(', ')}: ${header}`);
}

for (const { subject } of subjects) {
  await ingest(subject, { ...load(10), messages: 300 });
  if (subject.name !== 'mailstead without checks') await prove(subject);
}

console.log(`${OCTETS} octets a message, ${ROUNDS} interleaved rounds, medians.`);
console.log('| connections | | msg/s | CPU ms/msg | p50 ms | p99 ms |');
console.log('|---|---|---|---|---|---|');
for (const connections of [1, 10, 50]) {
  const figures = new Map<string, Figures[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const { subject, messages } of subjects) {
      const one = await ingest(subject, { ...load(connections), messages });
      figures.set(subject.name, [...(figures.get(subject.name) ?? []), one]);
      process.stderr.write(`  ${connections} ${round + 1}/${ROUNDS} ${subject.name}: ${one.perSecond.toFixed(0)}/s\n`);
    }
  }
  for (const [name, all] of figures) {
    const of = (pick: (one: Figures) => number): string => median(all.map(pick)).toFixed(2);
    console.log(
      `| ${connections} | ${name} | ${of((f) => f.perSecond)} | ${of((f) => f.cpu)} | ${of((f) => f.p50)} | ${of((f) => f.p99)} |`,
    );
  }
  const [mine, peer] = [figures.get('mailstead'), figures.get('postfix+dovecot+rspamd')];
  if (mine === undefined || peer === undefined) continue;
  const ratio = (pick: (one: Figures) => number): number =>
    median(mine.map((one, n) => pick(one) / pick(peer[n] ?? one)));
  const [rate, cpu] = [ratio((f) => f.perSecond), ratio((f) => f.cpu)];
  console.log(`| ${connections} | **ratio** | **${rate.toFixed(1)}** | **1/${(1 / cpu).toFixed(1)}** | | |`);
}
const tellMemory = (when: string): void => {
  for (const { subject } of subjects) {
    const { pss, rss } = memoryKib(subject.roots);
    const [proportional, resident] = [pss, rss].map((kib) => (kib / 1024).toFixed(0));
    console.log(`memory ${when}, ${subject.name}: PSS ${proportional} MiB, RSS ${resident} MiB`);
  }
};
tellMemory('under load');
await sleep(AT_REST_MS);
tellMemory('at rest');
