import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import type { S3Fault } from '../support/fake-s3.ts';
import { expectKept, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { isPostgresInstalled, startPostgres } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { countByJmap, countByMcp, follow, idle, sendTo, Storm } from '../support/storm-clients.ts';

const NODES = 3;
/** With FAULTS_FULL=1 ten minutes with a kill each 30 s, else as many kills in a shorter time. */
const KILLS = repetitions(20, 4);
const KILL_EVERY_MS = repetitions(30_000, 6_000);
/** Clients of each node: 201 in all with FAULTS_FULL=1. */
const SENDERS = repetitions(25, 3);
const READERS = repetitions(16, 3);
const IDLE = repetitions(16, 2);
const JMAP = repetitions(5, 1);
const MCP = repetitions(5, 1);
/** Pause between two readings of a client, ms: 48 of them share two cores with the nodes. */
const READING_PAUSE_MS = repetitions(1_000, 50);
/** A start on a busy machine takes seconds, in which its connections are cut too. */
const START_PATIENCE_MS = 240_000;
const SEED = 20_261_128;
const FAULTS: readonly S3Fault[] = ['503', 'reset', 'cut', 'late-reset'];

/** All clients of one node. */
function clientsOf(box: Box, at: number, token: string, storm: Storm): Promise<void>[] {
  const many = (count: number, one: () => Promise<void>): Promise<void>[] => Array.from({ length: count }, one);
  return [
    sendTo(box, `node${at}`, SENDERS, storm),
    ...many(READERS, () => follow(box, storm, READING_PAUSE_MS)),
    ...many(IDLE, () => idle(box, storm)),
    ...many(JMAP, () => countByJmap(box, storm)),
    ...many(MCP, () => countByMcp(box, token, storm)),
  ];
}

/** Kills nodes in turn, and restarts PostgreSQL twice. */
async function strike(nodes: Nodes, restartDatabase: () => void): Promise<void> {
  for (let kill = 0; kill < KILLS; kill++) {
    await delay(KILL_EVERY_MS);
    if (kill === Math.floor(KILLS / 3) || kill === Math.floor((2 * KILLS) / 3)) restartDatabase();
    const box = nodes.boxes[kill % NODES] as Box;
    expect(box.running, box.printed.slice(-10).join('\n')).toBe(true);
    await box.kill();
    await startAgain(box);
  }
}

/** A start while the database is away ends in words; the operator's supervisor starts it again. */
async function startAgain(box: Box): Promise<void> {
  const until = performance.now() + START_PATIENCE_MS;
  for (;;) {
    try {
      return await box.start();
    } catch (error) {
      if (performance.now() > until) throw error;
      // Beside other suites a start may take longer than the test waits.
      if (box.running) await box.kill();
      await delay(500);
    }
  }
}

describe.skipIf(!isPostgresInstalled)('three nodes on one PostgreSQL (postgresql-15 of Debian) and one bucket', () => {
  test(`${KILLS} kills of nodes, two restarts of PostgreSQL, cut connections and a failing bucket lose nothing`, async () => {
    using server = startPostgres();
    const proxies: PostgresProxy[] = [];
    for (let i = 0; i < NODES; i++) proxies.push(await PostgresProxy.open(server, `proxy-${i}`));
    await using nodes = await startNodes({
      databases: proxies.map(({ url }) => url),
      local: true,
      settings: UNDER_LOAD,
    });
    const random = seeded(SEED);
    nodes.s3.trouble = () => (random(20) === 0 ? FAULTS[random(FAULTS.length)] : undefined);
    const cutting = setInterval(() => proxies[random(NODES)]?.cut(random), 700);
    const storm = new Storm();
    const { ledger } = storm;
    const token = /\bmst_[0-9a-f]+/.exec(nodes.boxes.flatMap(({ printed }) => printed).join('\n'))?.[0] ?? '';
    const clients = nodes.boxes.flatMap((box, at) => clientsOf(box, at, token, storm));
    try {
      await strike(nodes, () => server.restart());
    } finally {
      clearInterval(cutting);
      // The messages are read once the bucket answers: a FETCH may end in NO while it fails.
      nodes.s3.trouble = () => undefined;
      storm.over = true;
    }
    await Promise.all(clients);
    console.log(`${ledger.acknowledged.size} acknowledged, ${storm.readings} readings`);
    expect(storm.disorder).toEqual([]);
    expect(storm.readings).toBeGreaterThan(50);
    expect([...storm.protocols].toSorted()).toEqual(['IMAP', 'JMAP', 'MCP']);
    expect(ledger.refusals.filter((line) => !line.startsWith('4'))).toEqual([]);
    for (const box of nodes.boxes) await expectKept(box, ledger, ledger.unanswered + ledger.refusals.length);
    const { acknowledged, unanswered, refusals } = ledger;
    const delays = storm.delays.toSorted((one, other) => one - other);
    const part = (share: number): number => Math.round(delays[Math.floor(share * (delays.length - 1))] ?? Infinity);
    console.log(
      `${KILLS} kills, ${acknowledged.size} acknowledged, ${unanswered} unanswered, ${refusals.length} refused with "later", ${storm.readings} readings, ${delays.length} announcements to idle clients: half after ${part(0.5)} ms, 99 of 100 after ${part(0.99)} ms, all after ${part(1)} ms`,
    );
    expect(delays.length).toBeGreaterThan(50);
  }, 1_800_000);
});
