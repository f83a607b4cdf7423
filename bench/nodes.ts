import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeS3 } from '../test/support/fake-s3.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { ingest, type Load } from './lib/ingest-load.ts';
import { poll, pollers } from './lib/jmap-polling.ts';
import { tokensOf } from './lib/jmap-tokens.ts';
import { startMailstead, type Subject } from './lib/mailstead.ts';

/**
 * One, two and three nodes on one PostgreSQL and one bucket, interleaved in one run: stored and visible messages a second,
 * JMAP polls a second, and CPU of all nodes and of the database. `npm run bench:nodes [rounds]`; needs the package
 * postgresql-15. Nodes, database and load share the processors of one machine: with two of them more nodes cannot be faster,
 * and the figures show what each further node costs.
 */
const ROUNDS = Math.max(1, Number(process.argv[2] ?? 3));
const NODES = 3;
const OCTETS = 4096;
const POLLERS = 24;
const POLL_SECONDS = 3;

type Node = Awaited<ReturnType<typeof startMailstead>>;

const directory = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'mailstead-nodes-'));
const server = startPostgres(process.env['BENCH_DIR'] ?? tmpdir(), '128MB');
const postgres = Number(readFileSync(join(server.socket, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
const s3 = await FakeS3.start();
const nodes: Node[] = [];

/** The first `count` nodes as one server, whose connections go to them in turn. */
function combined(count: number): Subject {
  const some = nodes.slice(0, count);
  const [first] = nodes as [Node];
  let turn = 0;
  return {
    ...first,
    roots: [...some.flatMap(({ roots }) => roots), postgres],
    get smtpPort() {
      return some[turn++ % count]?.smtpPort ?? 0;
    },
  };
}

function loadOf(connections: number, messages: number): Load {
  return { connections, messages, octets: OCTETS, oneEach: false, lmtp: false };
}

async function polled(count: number): Promise<{ perSecond: number; cpu: number }> {
  const [first] = nodes as [Node];
  const accounts = (await tokensOf(first)).map(({ id, token }) => ({ id, authorization: `Bearer ${token}` }));
  const { roots } = combined(count);
  const groups = nodes
    .slice(0, count)
    .map(({ ports }) => pollers(POLLERS / count, ports['http'] ?? 0, '/jmap/api', accounts));
  return poll((await Promise.all(groups)).flat(), POLL_SECONDS, roots);
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

async function row(label: string, one: (count: number) => Promise<{ perSecond: number; cpu: number }>): Promise<void> {
  const rounds: { perSecond: number; cpu: number }[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const figures = [];
    for (let count = 1; count <= NODES; count++) figures.push(await one(count));
    rounds.push(figures);
  }
  const cells = Array.from({ length: NODES }, (_, at) => [
    median(rounds.map((one) => one[at]?.perSecond ?? 0)).toFixed(0),
    median(rounds.map((one) => one[at]?.cpu ?? 0)).toFixed(2),
  ]);
  console.log(`| ${[label, ...cells.map(([rate]) => rate), ...cells.map(([, cpu]) => cpu)].join(' | ')} |`);
}

try {
  const { endpoint, bucket, prefix, accessKey, secretKey } = s3.options;
  for (let at = 0; at < NODES; at++) {
    nodes.push(
      await startMailstead(at === 0 ? 10 : 0, {
        MAILSTEAD_SPAM_CHECKS: 'off',
        MAILSTEAD_DATABASE: server.url,
        MAILSTEAD_NODE: `node-${at + 1}`,
        MAILSTEAD_KEY_FILE: join(directory, 'secret.key'),
        MAILSTEAD_BLOBS: `s3://${bucket}/${prefix}`,
        MAILSTEAD_BLOBS_S3_ENDPOINT: endpoint.href,
        MAILSTEAD_BLOBS_S3_ACCESS_KEY: accessKey,
        MAILSTEAD_BLOBS_S3_SECRET_KEY: secretKey,
      }),
    );
  }
  // V8 optimizes code only after some thousand messages.
  await ingest(combined(NODES), loadOf(12, 6000));
  console.log(`${OCTETS} octets a message, ${ROUNDS} interleaved rounds, medians.`);
  console.log('| | 1 node | 2 | 3 | CPU ms each, 1 node | 2 | 3 |');
  console.log('|---|---|---|---|---|---|---|');
  for (const connections of [10, 50])
    await row(`messages a second, ${connections} connections`, (count) =>
      ingest(combined(count), loadOf(connections, connections * 60)),
    );
  await row(`JMAP polls a second, ${POLLERS} clients`, polled);
} finally {
  await Promise.all(nodes.map((node) => node.stop()));
  await s3[Symbol.asyncDispose]();
  server[Symbol.dispose]();
  rmSync(directory, { recursive: true });
}
