import { tmpdir } from 'node:os';
import { startPostgres } from '../test/support/postgres.ts';
import { type Growth, GrowingStore } from './lib/growth.ts';

/**
 * Growth of both engines with the number of mailboxes, measured; then a plan for 1 and 10 million of them, in which each
 * number is a measured one times an assumption that is printed. `npm run bench:scale [mailboxes...]`, by default 1,000 and
 * 10,000; 100,000 take about 10 minutes more. Needs the package postgresql-15.
 */
const SIZES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1000, 10_000];
const MESSAGES = 2000;
const PLANNED = [1_000_000, 10_000_000];
const DAY_S = 86_400;
const GIB = 1024 ** 3;

/** Assumptions about one mailbox of a team. Change them to those of yours. */
const ASSUMED = {
  messagesADay: 30,
  /** Share of the busiest hour, as a multiple of the mean. */
  peak: 3,
  /** Octets of a mean message that stay in the database; larger ones are in the bucket. */
  smallOctets: 12_000,
  largeOctets: 60_000,
  yearsKept: 2,
  /** Share of mailboxes that a program has open, and connections of each. */
  online: 0.2,
  sessionsEach: 2,
  /** CPU of receiving a message with all checks, ms, and memory of an open session, kB (docs/imap.md, bench:cost). */
  receiveMs: 1.6,
  sessionKb: 60,
  /** Connections of one node to PostgreSQL, and sessions that it may have. */
  connections: 29,
  sessionsANode: 50_000,
};

const engines = { sqlite: undefined, postgres: startPostgres(process.env['BENCH_DIR'] ?? tmpdir(), '128MB') };
const measured: Record<string, Growth[]> = {};
try {
  for (const [name, server] of Object.entries(engines)) {
    await using store = await GrowingStore.create(server?.url);
    const figures: Growth[] = (measured[name] = []);
    for (const size of SIZES) figures.push(await store.growTo(size, MESSAGES));
  }
} finally {
  engines.postgres[Symbol.dispose]();
}

console.log(
  '| mailboxes | engine | octets a mailbox | octets a message of 4 KiB | open, ms | login, ms | message alone, ms | messages a second, 30 at once |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const [name, figures] of Object.entries(measured)) for (const one of figures) console.log(growthRow(name, one));
console.log(`\nAssumed of a mailbox: ${JSON.stringify(ASSUMED)}\n`);
console.log('| on PostgreSQL | ' + PLANNED.map((count) => count.toLocaleString('en-US')).join(' | ') + ' | from |');
console.log(`|---|${PLANNED.map(() => '---|').join('')}---|`);
const last = (measured['postgres'] ?? []).at(-1);
if (last !== undefined)
  for (const [label, of, from] of plan(last)) console.log(`| ${[label, ...PLANNED.map(of), from].join(' | ')} |`);

function growthRow(name: string, one: Growth): string {
  const { mailboxes, perMailbox, perMessage, openMs, loginMs, storeMs, perSecond } = one;
  const cells = [perMailbox, perMessage, openMs].map((value) => value.toFixed(0));
  return `| ${[mailboxes, name, ...cells, loginMs.toFixed(2), storeMs.toFixed(2), perSecond.toFixed(0)].join(' | ')} |`;
}

type PlanRow = readonly [label: string, of: (mailboxes: number) => string, from: string];

/** Each row: a measured number times assumptions. */
function plan({ perMailbox, perMessage, perSecond }: Growth): PlanRow[] {
  const { messagesADay, peak, smallOctets, largeOctets, yearsKept, online, sessionsEach } = ASSUMED;
  const { receiveMs, sessionKb, connections, sessionsANode } = ASSUMED;
  const kept = (count: number): number => count * messagesADay * 365 * yearsKept;
  const rate = (count: number): number => (count * messagesADay * peak) / DAY_S;
  const sessions = (count: number): number => count * online * sessionsEach;
  const overhead = Math.max(0, perMessage - 4096);
  const databases = (count: number): number => Math.ceil(rate(count) / (perSecond / 2));
  const nodes = (count: number): number =>
    Math.max(
      databases(count),
      Math.ceil(sessions(count) / sessionsANode),
      Math.ceil((rate(count) * receiveMs) / 1000 / 4),
    );
  const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
  return [
    ['messages a second, busiest hour', (count) => whole(rate(count)), 'assumed'],
    ['messages kept', (count) => whole(kept(count)), 'assumed'],
    [
      'database, GiB',
      (count) => whole((count * perMailbox + kept(count) * (smallOctets + overhead)) / GIB),
      'octets a mailbox and a message',
    ],
    ['bucket, GiB', (count) => whole((kept(count) * largeOctets) / GIB), 'assumed'],
    ['open sessions', (count) => whole(sessions(count)), 'assumed'],
    ['their memory, GiB', (count) => whole((sessions(count) * sessionKb) / 1024 ** 2), 'memory of a session'],
    ['cores for receiving', (count) => whole((rate(count) * receiveMs) / 1000), 'CPU of a message'],
    [
      'PostgreSQL databases, each at half its rate',
      (count) => whole(databases(count)),
      'messages a second, 30 at once',
    ],
    ['notifications a second and database', (count) => whole(rate(count) / 30 / databases(count)), 'one a batch of 30'],
    ['nodes of 4 cores', (count) => whole(nodes(count)), 'sessions and cores'],
    [
      'connections to each database',
      (count) => whole((nodes(count) / databases(count)) * connections),
      'connections of a node',
    ],
  ];
}
