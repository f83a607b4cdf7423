import { relayMailstead } from './lib/relay-ours.ts';
import { type RelayFigures, relay, Target } from './lib/relay-load.ts';
import { relayPostfix } from './lib/relay-peer.ts';

/**
 * Submission over TLS to a sink: Mailstead, with an RSA-2048 and an Ed25519 signature on each message, against Debian's
 * Postfix with OpenDKIM (RSA-2048) behind a unix socket, interleaved in one run; medians of the ratios. `npm run bench:relay [rounds]`; needs root
 * and the packages postfix and opendkim. BENCH_DIR says which disk to use.
 */
const ROUNDS = Math.max(1, Number(process.argv[2] ?? 5));
const OCTETS = 4096;
const DOMAINS = Array.from({ length: 10 }, (_, i) => `d${i}.sink.test`);
const SCENARIOS = [
  { connections: 10, ours: 4000, theirs: 1500 },
  { connections: 50, ours: 4000, theirs: 1500 },
];

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
};

const target = await Target.start();
const ours = await relayMailstead(target, DOMAINS);
const theirs = await relayPostfix(target);
try {
  const load = { octets: OCTETS, domains: DOMAINS };
  // Both warm: compiled code here, worker processes there.
  for (const subject of [ours, theirs]) await relay(subject, target, { ...load, connections: 10, messages: 500 });
  console.log(`${OCTETS} octets a message, ${ROUNDS} interleaved rounds, medians.`);
  console.log(
    '| connections | msg/s ours | peer | ratio | CPU ms/msg ours | peer | ratio | acceptance p50 ms ours | peer | ratio |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|');
  for (const { connections, ours: mine, theirs: peers } of SCENARIOS) {
    const pairs: [RelayFigures, RelayFigures][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const one = await relay(ours, target, { ...load, connections, messages: mine });
      const other = await relay(theirs, target, { ...load, connections, messages: peers });
      pairs.push([one, other]);
      process.stderr.write(
        `  ${connections} ${round + 1}/${ROUNDS}: ${one.perSecond.toFixed(0)} / ${other.perSecond.toFixed(0)}\n`,
      );
    }
    const row = (['perSecond', 'cpu', 'p50'] as const).map((name) => {
      const ratio = median(pairs.map(([one, other]) => one[name] / other[name]));
      const shown = name === 'perSecond' ? ratio.toFixed(1) : `1/${(1 / ratio).toFixed(1)}`;
      const of = (side: 0 | 1): string => median(pairs.map((pair) => pair[side][name])).toFixed(2);
      return `${of(0)} | ${of(1)} | **${shown}**`;
    });
    console.log(`| ${connections} | ${row.join(' | ')} |`);
  }
} finally {
  await Promise.all([ours.stop(), theirs.stop()]);
  await target.stop();
}
