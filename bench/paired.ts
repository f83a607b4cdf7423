import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { callServer } from '../src/operator-socket/client.ts';
import type * as BigAccountLib from './lib/big-account.ts';
import { ingest } from './lib/ingest-load.ts';
import { JmapWire, timed } from './lib/jmap-load.ts';
import type * as MailsteadLib from './lib/mailstead.ts';
import { type Pair, PairedFigures } from './lib/paired-figures.ts';
import { jmapRows, mcpRows, type ReadingRow } from './lib/reading-rows.ts';

/**
 * Two checkouts whose servers run at the same time, and get the same short burst of work in turn, hundreds of times: what else
 * the machine does meets both, so that a few per cent show where runs one after the other differ by more. `npm run bench:paired
 * -- <tree A> <tree B> [rounds] [messages of the account that is read]`. Each tree has its own node_modules.
 */
const [first, second, rounds = '40', messages = '50000'] = process.argv.slice(2);
if (first === undefined || second === undefined || !(Number(rounds) >= 4)) {
  console.error('Usage: node bench/paired.ts <tree A> <tree B> [rounds, 4 or more] [messages]');
  process.exit(2);
}
const ROUNDS = Number(rounds);
const MESSAGES = Number(messages);
/** Connections, and messages of one burst. */
const BURSTS = [
  [1, 40],
  [10, 120],
  [50, 300],
] as const;
/** Requests of one burst, which end together. */
const REQUESTS = 10;

const trees = await Promise.all([first, second].map(async (tree) => ({ tree, ...(await libraryOf(tree)) })));
const figures = new PairedFigures(ROUNDS);
console.log(
  `A: ${first}, B: ${second}; ${ROUNDS} rounds. Ratios are medians of those of each round, with their quartiles.\n`,
);
console.log(PairedFigures.HEADING);
await receiving();
await reading();

type Tree = (typeof trees)[number];

/** The parts of a checkout that start and fill its server. */
async function libraryOf(tree: string): Promise<typeof MailsteadLib & typeof BigAccountLib> {
  const load = async (name: string): Promise<object> =>
    (await import(pathToFileURL(join(resolve(tree), 'bench/lib', name)).href)) as object;
  return { ...(await load('mailstead.ts')), ...(await load('big-account.ts')) } as never;
}

/** Runs both of a pair in each round; each goes first in every second one. */
async function inTurn<T>(pair: Pair<T>, run: (one: T) => Promise<number>): Promise<Pair<number>[]> {
  const found: Pair<number>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const values: [number, number] = [0, 0];
    for (const at of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) values[at] = await run(pair[at]);
    found.push(values);
  }
  return found;
}

/** Messages by SMTP, without spam checks: ms of the median message, as its client waits. */
async function receiving(): Promise<void> {
  const boxes = await onBoth(({ startMailstead }) => startMailstead(10, { MAILSTEAD_SPAM_CHECKS: 'off' }));
  const burst = async (box: (typeof boxes)[number], connections: number, count: number): Promise<number> => {
    const load = { connections, messages: count, octets: 4096, oneEach: false, lmtp: false };
    const { p50 } = await ingest(box, load);
    // The text index follows: it is not to meet the burst of the other.
    await sleep(150);
    return p50;
  };
  try {
    // V8 optimizes code only after some thousand messages.
    for (const box of boxes) await burst(box, 10, 3_000);
    for (const [connections, count] of BURSTS) {
      const pairs = await inTurn(boxes, (box) => burst(box, connections, count));
      console.log(figures.line(`SMTP, ${connections} connections, ms a message`, pairs));
    }
  } finally {
    await Promise.all(boxes.map((box) => box.stop()));
  }
}

/** Requests to an account of many messages, by JMAP and MCP. */
async function reading(): Promise<void> {
  const boxes = await onBoth((tree) => startFilled(tree));
  try {
    const [a, b] = [await rowsOf(boxes[0]), await rowsOf(boxes[1])];
    for (const [at, row] of a.entries()) {
      const pair: Pair<ReadingRow> = [row, b[at] ?? row];
      for (const one of pair) await timed(300, () => one.ask());
      const pairs = await inTurn(pair, async (one) => (await timed(REQUESTS, () => one.ask()))[REQUESTS >> 1] ?? 0);
      console.log(figures.line(`${row.name}, ms`, pairs));
    }
  } finally {
    for (const box of boxes) {
      await box.stop();
      rmSync(box.dataDir, { recursive: true, force: true });
    }
  }
}

type Filled = Awaited<ReturnType<typeof startFilled>>;

/** Starts the server of a checkout on an account that it has filled. */
async function startFilled({ startMailstead, fillDirectory, fillContacts }: Tree) {
  const empty = await startMailstead(1);
  process.kill(empty.roots[0] ?? 0, 'SIGTERM');
  await sleep(3_000);
  const big = await fillDirectory(empty.dataDir, MESSAGES);
  fillContacts(empty.dataDir, big.account);
  const box = await startMailstead(1, {}, undefined, empty.dataDir);
  return { ...box, big };
}

async function rowsOf({ dataDir, ports, big }: Filled): Promise<ReadingRow[]> {
  const made = await callServer(dataDir, 'create_agent_token', { name: 'bench', actions: ['read', 'manage', 'send'] });
  if (made.kind !== 'done') throw new Error(made.message);
  const bearer = `Bearer ${(made.result as { secret: string }).secret}`;
  const port = ports['http'] ?? 0;
  const jmap = await jmapRows(await JmapWire.open(port, bearer), big);
  const mcp = await mcpRows(await JmapWire.open(port, bearer, '/mcp'));
  return [
    ...jmap.map((row) => ({ ...row, name: `JMAP ${row.name}` })),
    ...mcp.map((row) => ({ ...row, name: `MCP ${row.name}` })),
  ];
}

async function onBoth<T>(start: (tree: Tree) => Promise<T>): Promise<Pair<T>> {
  const [a, b] = trees;
  if (a === undefined || b === undefined) throw new Error('two trees are needed');
  return [await start(a), await start(b)];
}
