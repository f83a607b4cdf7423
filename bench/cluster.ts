import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres.ts';
import { type Figures, ingest, type Load } from './lib/ingest-load.ts';
import { startMailstead, type Subject } from './lib/mailstead.ts';
import { startPeer } from './lib/peer.ts';
import { untilIdle } from './lib/process.ts';

/**
 * One server on SQLite, one on PostgreSQL, and Debian's Postfix delivering by LMTP to Dovecot, interleaved in one run:
 * stored and visible messages a second, and CPU a message with that of the database. `npm run bench:cluster [rounds]`;
 * needs root and the packages postgresql-15, postfix, dovecot-imapd and dovecot-lmtpd. BENCH_DIR selects the disk.
 */
const ROUNDS = Math.max(1, Number(process.argv[2] ?? 3));
const OCTETS = 4096;
const DIRECTORY = process.env['BENCH_DIR'] ?? tmpdir();

const SCENARIOS = [
  { connections: 1, messages: { sqlite: 800, postgres: 300, peer: 200 } },
  { connections: 10, messages: { sqlite: 4000, postgres: 1000, peer: 400 } },
  { connections: 50, messages: { sqlite: 6000, postgres: 1500, peer: 500 } },
];

type SubjectName = keyof (typeof SCENARIOS)[number]['messages'];

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

function loadOf(connections: number, messages: number): Load {
  return { connections, messages, octets: OCTETS, oneEach: false, lmtp: false };
}

async function compare(
  subjects: Record<SubjectName, Subject>,
  { connections, messages }: (typeof SCENARIOS)[number],
): Promise<void> {
  const names = Object.keys(subjects) as SubjectName[];
  const rounds: Record<SubjectName, Figures>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const figures: Partial<Record<SubjectName, Figures>> = {};
    for (const name of names) {
      figures[name] = await ingest(subjects[name], loadOf(connections, messages[name]));
      // Its text index runs on behind the last message, and would meet the next server.
      await untilIdle(subjects[name].roots);
    }
    rounds.push(figures as Record<SubjectName, Figures>);
  }
  const rate = (name: SubjectName): string => median(rounds.map((one) => one[name].perSecond)).toFixed(0);
  const cpu = (name: SubjectName): string => median(rounds.map((one) => one[name].cpu)).toFixed(2);
  const ratio = median(rounds.map(({ postgres, peer }) => postgres.perSecond / peer.perSecond)).toFixed(2);
  console.log(`| ${[connections, ...names.map(rate), ratio, ...names.map(cpu)].join(' | ')} |`);
}

const server = startPostgres(DIRECTORY, '128MB');
const settings = { MAILSTEAD_SPAM_CHECKS: 'off' };
const sqlite = await startMailstead(undefined, settings);
const postgres = await startMailstead(undefined, { ...settings, MAILSTEAD_DATABASE: server.url });
postgres.roots.push(Number(readFileSync(join(server.socket, 'data/postmaster.pid'), 'utf8').split('\n')[0]));
const subjects = { sqlite, postgres, peer: await startPeer(10) };
try {
  // V8 optimizes code only after some thousand messages.
  for (const subject of Object.values(subjects)) {
    await ingest(subject, loadOf(10, 3000));
    await untilIdle(subject.roots);
  }
  console.log(`${OCTETS} octets a message, ${ROUNDS} interleaved rounds, medians.`);
  console.log(
    '| connections | msg/s SQLite | PostgreSQL | peer | PostgreSQL / peer | CPU ms/msg SQLite | PostgreSQL | peer |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const scenario of SCENARIOS) await compare(subjects, scenario);
} finally {
  await Promise.all(Object.values(subjects).map((subject) => subject.stop()));
  server[Symbol.dispose]();
}
