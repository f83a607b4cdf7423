import { type Figures, ingest, type Load } from './lib/ingest-load.ts';
import { startMailstead, type Subject } from './lib/mailstead.ts';
import { startPeer } from './lib/peer.ts';
import { memoryKib } from './lib/process.ts';

/**
 * Mailstead against Debian's Postfix delivering by LMTP to Dovecot, interleaved (A, B, A, B, ...) in one run: stored and
 * visible messages a second, CPU a message, medians of the ratios. `npm run bench:ingest [rounds]`; needs root and the
 * packages postfix, dovecot-imapd and dovecot-lmtpd. BENCH_DIR says which disk to use.
 */
const ROUNDS = Math.max(1, Number(process.argv[2] ?? 5));
const OCTETS = 4096;

const scenarios: {
  name: string;
  load: Omit<Load, 'lmtp' | 'messages'>;
  ours: number;
  theirs: number;
  lmtp: boolean;
}[] = [
  { name: '1 connection', load: many(1), ours: 800, theirs: 200, lmtp: false },
  { name: '10 connections', load: many(10), ours: 4000, theirs: 400, lmtp: false },
  { name: '50 connections', load: many(50), ours: 6000, theirs: 500, lmtp: false },
  {
    name: '50 connections, one message each',
    load: { ...many(50), oneEach: true },
    ours: 3000,
    theirs: 400,
    lmtp: false,
  },
  { name: '10 connections, against LMTP alone', load: many(10), ours: 4000, theirs: 1000, lmtp: true },
];

function many(connections: number): Omit<Load, 'lmtp' | 'messages'> {
  return { connections, octets: OCTETS, oneEach: false };
}

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
};

async function compare(ours: Subject, theirs: Subject, scenario: (typeof scenarios)[number]): Promise<void> {
  const pairs: [Figures, Figures][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const mine = await ingest(ours, { ...scenario.load, messages: scenario.ours, lmtp: false });
    const peer = await ingest(theirs, { ...scenario.load, messages: scenario.theirs, lmtp: scenario.lmtp });
    pairs.push([mine, peer]);
    process.stderr.write(
      `  ${scenario.name} ${round + 1}/${ROUNDS}: ${mine.perSecond.toFixed(0)} / ${peer.perSecond.toFixed(0)}\n`,
    );
  }
  const of = (pick: (figures: Figures) => number): string =>
    `${median(pairs.map(([mine]) => pick(mine))).toFixed(2)} | ${median(pairs.map(([, peer]) => pick(peer))).toFixed(2)}`;
  const rate = median(pairs.map(([mine, peer]) => mine.perSecond / peer.perSecond));
  const cpu = median(pairs.map(([mine, peer]) => mine.cpu / peer.cpu));
  console.log(
    `| ${scenario.name} | ${of((f) => f.perSecond)} | **${rate.toFixed(1)}** | ${of((f) => f.cpu)} | **1/${(1 / cpu).toFixed(1)}** | ${of((f) => f.p50)} |`,
  );
}

// The peer does not filter either; bench/judged.ts measures filtered mail.
const ours = await startMailstead(undefined, { MAILSTEAD_SPAM_CHECKS: 'off' });
const theirs = await startPeer(10);
try {
  // Both warm: worker processes there, and here code that V8 has optimized, which takes some thousand messages.
  for (const subject of [ours, theirs]) await ingest(subject, { ...many(10), messages: 5000, lmtp: false });
  console.log(`${OCTETS} octets a message, ${ROUNDS} interleaved rounds, medians.`);
  console.log('| | msg/s ours | peer | ratio | CPU ms/msg ours | peer | ratio | p50 ms ours | peer |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  for (const scenario of scenarios) await compare(ours, theirs, scenario);
  for (const subject of [ours, theirs]) {
    const { pss, rss } = memoryKib(subject.roots);
    console.log(
      `memory after the load, ${subject.name}: PSS ${(pss / 1024).toFixed(0)} MiB, RSS ${(rss / 1024).toFixed(0)} MiB`,
    );
  }
} finally {
  await Promise.all([ours.stop(), theirs.stop()]);
}
