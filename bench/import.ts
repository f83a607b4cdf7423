import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callServer } from '../src/operator-socket/client.ts';
import { ImapLoadClient } from './lib/imap-client.ts';
import { type PeerPair, pullWithMbsync, pullWithOfflineImap } from './lib/import-peers.ts';
import { startMailstead, type Subject } from './lib/mailstead.ts';
import { cpuMs } from './lib/process.ts';
import { message } from './lib/messages.ts';
import { startPeer } from './lib/peer.ts';

/**
 * The same mailboxes of Debian's Dovecot pulled by `mailstead import imap` into Mailstead, with its proof, and by mbsync
 * and OfflineIMAP into Dovecot (sdbox), interleaved: messages a second, and CPU ms of all processes for a message,
 * medians. `npm run bench:import [messages a mailbox] [rounds]`; needs root and the packages isync, offlineimap3,
 * postfix, dovecot-imapd and dovecot-lmtpd.
 */
const MESSAGES = Math.max(50, Number(process.argv[2] ?? 1_000));
const ROUNDS = Math.max(1, Number(process.argv[3] ?? 5));
/** Programs to measure, such as `mailstead,mbsync`. */
const ONLY = process.argv[4]?.split(',');
const MAILBOXES = 4;
const FOLDERS = ['INBOX', 'Work', 'Lists', 'Old'];
const OCTETS = 4096;
const COMMAND = join(import.meta.dirname, '../bin/mailstead');

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const sources = Array.from({ length: MAILBOXES }, (_, n) => `sd${n + 1}`);
/** Empty mailboxes of Dovecot for one run of a peer. */
let used = MAILBOXES;
const pairs = (): PeerPair[] => sources.map((from) => ({ from, to: `sd${++used}` }));

async function fill({ imapPort, password }: Subject, user: string): Promise<void> {
  const client = await ImapLoadClient.login(imapPort, user, password);
  for (const folder of FOLDERS.slice(1)) await client.run(`CREATE ${folder}`);
  for (let n = 0; n < MESSAGES; n++) {
    const octets = message(n, OCTETS, user);
    const flags = n % 3 === 0 ? '' : '\\Seen';
    const date = `${String(1 + (n % 28)).padStart(2, '0')}-Jan-2026 12:00:00 +0000`;
    await client.run([`APPEND ${FOLDERS[n % 4] ?? ''} (${flags}) "${date}" {${octets.length}+}\r\n`, octets]);
  }
  client.close();
}

async function pullHere(dataDir: string, dir: string, round: number): Promise<void> {
  const csv = join(dir, 'accounts.csv');
  const addresses = sources.map((user) => `${user}-${round}@box.test`);
  for (const address of addresses) await callServer(dataDir, 'add_mailbox', { address });
  const lines = sources.map((user, at) => `${user},${theirs.password},${addresses[at]}`);
  writeFileSync(csv, `user,password,address\n${lines.join('\n')}\n`);
  const args = ['import', 'imap', '--from-host', '127.0.0.1', '--port', String(theirs.imapPort), '--csv', csv];
  const from = performance.now();
  const child = spawn(COMMAND, [...args, '--tls', 'none', '--data-dir', dataDir], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`the import ended with ${code}`);
  seconds.push((performance.now() - from) / 1_000);
}

/** Duration of the last run. */
const seconds: number[] = [];

async function timed(work: Promise<void>): Promise<void> {
  const from = performance.now();
  await work;
  seconds.push((performance.now() - from) / 1_000);
}

/** Waits until the full-text index and other work after a run is done, so that the next program has the machine. */
async function idle(roots: readonly number[]): Promise<void> {
  for (let quiet = 0, before = cpuMs(roots); quiet < 3;) {
    await delay(1_000);
    const now = cpuMs(roots);
    quiet = now - before <= 100 ? quiet + 1 : 0;
    before = now;
  }
}

const theirs = await startPeer(MAILBOXES * (1 + 2 * ROUNDS));
const ours = await startMailstead(0, {
  MAILSTEAD_SPAM_CHECKS: 'off',
  MAILSTEAD_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
});
const dir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'bench-import-'));
try {
  await Promise.all(sources.map((user) => fill(theirs, user)));
  const programs: { name: string; pull: (round: number) => Promise<void> }[] = [
    { name: 'mailstead', pull: (round) => pullHere(ours.dataDir, dir, round) },
    { name: 'mbsync', pull: () => timed(pullWithMbsync(theirs, pairs())) },
    { name: 'OfflineIMAP', pull: () => timed(pullWithOfflineImap(theirs, pairs())) },
  ];
  const chosen = programs.filter(({ name }) => ONLY === undefined || ONLY.includes(name));
  const rates = chosen.map(() => [] as number[]);
  const cpu = chosen.map(() => [] as number[]);
  const roots = [process.pid, ...ours.roots, ...theirs.roots];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, { pull }] of chosen.entries()) {
      await idle(roots);
      const before = cpuMs(roots);
      await pull(round);
      cpu[at]?.push((cpuMs(roots) - before) / (MAILBOXES * MESSAGES));
      rates[at]?.push((MAILBOXES * MESSAGES) / (seconds.pop() ?? Infinity));
    }
    process.stderr.write(
      `  ${round + 1}/${ROUNDS}: ${rates.map((all) => all.at(-1)?.toFixed(0)).join(' / ')} a second, ${cpu.map((all) => all.at(-1)?.toFixed(2)).join(' / ')} CPU ms\n`,
    );
  }
  console.log(`${MAILBOXES} mailboxes of ${MESSAGES} messages, ${ROUNDS} interleaved rounds, ${cpus()[0]?.model}.`);
  console.log('| | messages a second | ours is faster by | CPU ms a message |');
  console.log('|---|---|---|---|');
  const mine = median(rates[0] ?? []);
  for (const [at, { name }] of chosen.entries()) {
    const rate = median(rates[at] ?? []);
    console.log(`| ${name} | ${rate.toFixed(0)} | ${(mine / rate).toFixed(2)} | ${median(cpu[at] ?? []).toFixed(2)} |`);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
  await Promise.all([ours.stop(), theirs.stop()]);
}
