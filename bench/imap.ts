import { fill, IMAP_ROWS } from './lib/imap-rows.ts';
import { startMailstead } from './lib/mailstead.ts';
import { DOVECOTS, startPeer } from './lib/peer.ts';
import { cpuMs, untilIdle } from './lib/process.ts';

/**
 * IMAP of Mailstead against Debian's Dovecot on one mailbox, interleaved (A, B, A, B, ...): ms on the side of the client, CPU ms
 * of the server, medians. A ratio over 1 means that Mailstead is faster. `npm run bench:imap [messages] [rounds] [row]
 * [sdbox|maildir|tuned]` (rows whose name has that text); needs root and the packages postfix, dovecot-imapd and dovecot-lmtpd.
 */
const MESSAGES = Math.max(2000, Number(process.argv[2] ?? 20_000));
const ROUNDS = Math.max(1, Number(process.argv[3] ?? 5));
const WANTED = process.argv[4] ?? '';
const DOVECOT = (process.argv[5] ?? 'sdbox') as keyof typeof DOVECOTS;
if (!(DOVECOT in DOVECOTS)) throw new Error(`${DOVECOT} is none of ${Object.keys(DOVECOTS).join(', ')}`);

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

const ours = await startMailstead(1, { MAILSTEAD_SPAM_CHECKS: 'off' });
const theirs = await startPeer(1, '', DOVECOT);
try {
  const positions = [];
  for (const subject of [ours, theirs]) positions.push({ subject, mailbox: await fill(subject, MESSAGES) });
  // The rows say what commands cost, not what is indexed behind a fill.
  for (const { roots } of [ours, theirs]) await untilIdle(roots);
  console.log(`${MESSAGES} messages, ${ROUNDS} interleaved rounds, medians; Dovecot: ${DOVECOT}.`);
  console.log('| | ms ours | Dovecot | ratio | CPU ms ours | Dovecot |');
  console.log('|---|---|---|---|---|---|');
  for (const row of IMAP_ROWS.filter(({ name }) => name.includes(WANTED))) {
    const figures = positions.map(() => ({ ms: [] as number[], cpu: [] as number[] }));
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, { subject, mailbox }] of positions.entries()) {
        const before = cpuMs(subject.roots);
        figures[i]?.ms.push(await row.run(subject, mailbox, round));
        figures[i]?.cpu.push(cpuMs(subject.roots) - before);
      }
    }
    const [mine, peer] = figures.map(({ ms, cpu }) => ({ ms: median(ms), cpu: median(cpu) }));
    if (mine === undefined || peer === undefined) continue;
    console.log(
      `| ${row.name} | ${mine.ms.toFixed(1)} | ${peer.ms.toFixed(1)} | **${(peer.ms / mine.ms).toFixed(2)}** | ${mine.cpu} | ${peer.cpu} |`,
    );
  }
} finally {
  await Promise.all([ours.stop(), theirs.stop()]);
}
