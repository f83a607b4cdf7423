import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import type { S3Fault } from '../support/fake-s3.ts';
import { expectKept, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { JmapClient } from '../support/jmap-client.ts';
import { Ledger, load, numbered, type Numbered } from '../support/load.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { isPostgresInstalled, startPostgres } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';

const NODES = 3;
/** With FAULTS_FULL=1 ten minutes with a kill each 30 s, else as many kills in a shorter time. */
const KILLS = repetitions(20, 4);
const KILL_EVERY_MS = repetitions(30_000, 6_000);
const CLIENTS = repetitions(24, 8);
const READERS = repetitions(8, 3);
const SEED = 20_261_128;
const FAULTS: readonly S3Fault[] = ['503', 'reset', 'cut', 'late-reset'];

/** Sends to one node until `until` resolves, also while it is away; each message until it is acknowledged. */
async function sendTo(box: Box, prefix: string, ledger: Ledger, storm: Storm): Promise<void> {
  const queue: Numbered[] = [];
  for (let round = 0; !storm.over || queue.length > 0; round++) {
    if (!storm.over && queue.length < CLIENTS)
      for (let i = 0; i < 2 * CLIENTS; i++)
        queue.push(numbered(`${prefix}-${round}-${i}`, i % 10 === 9 ? 80_000 : 900, SEED + i));
    await load({ port: box.port('smtp'), queue, ledger, clients: Math.ceil(CLIENTS / NODES) }).catch(() => undefined);
    if (queue.length > 0) await delay(200);
  }
}

/** Reads one node over and over; fails when UIDs that were seen change their order, or one is missing. */
async function follow(box: Box, storm: Storm): Promise<void> {
  let seen: number[] = [];
  while (!storm.over) {
    try {
      using reader = await MailboxReader.open(box.port('imap'));
      await reader.command('EXAMINE INBOX');
      while (!storm.over) {
        await reader.command('NOOP');
        const answer = (await reader.command('UID SEARCH ALL')).toString('latin1');
        const found = /^\* SEARCH(.*)\r\n/m.exec(answer)?.[1];
        if (found === undefined) continue;
        const uids = found.trim().split(' ').filter(Boolean).map(Number);
        if (seen.some((uid, at) => uids[at] !== uid)) storm.disorder.push(`${seen.length} UIDs, then ${uids.length}`);
        seen = uids;
        storm.readings++;
        await delay(50);
      }
    } catch {
      // The node or its database is away.
      await delay(300);
    }
  }
}

/** Asks one node by JMAP for the number of messages, which never falls. */
async function count(box: Box, storm: Storm): Promise<void> {
  let most = 0;
  while (!storm.over) {
    try {
      const account = { user: box.address, password: box.password };
      const client = await JmapClient.discover(`http://127.0.0.1:${box.port('http')}`, account);
      const answer = (await client.call('Email/query', { calculateTotal: true, limit: 1 })) as { total: number };
      if (answer.total < most) storm.disorder.push(`${most} messages by JMAP, then ${answer.total}`);
      most = Math.max(most, answer.total);
      storm.readings++;
    } catch {
      // The node or its database is away.
    }
    await delay(300);
  }
}

interface Storm {
  over: boolean;
  /** Answers that were compared with those before. */
  readings: number;
  disorder: string[];
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
  for (let attempt = 1; ; attempt++) {
    try {
      return await box.start();
    } catch (error) {
      if (attempt === 10) throw error;
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
    const storm: Storm = { over: false, readings: 0, disorder: [] };
    const ledger = new Ledger();
    const clients = nodes.boxes.flatMap((box, at) => [
      sendTo(box, `node${at}`, ledger, storm),
      ...Array.from({ length: READERS }, () => follow(box, storm)),
      count(box, storm),
    ]);
    try {
      await strike(nodes, () => server.restart());
    } finally {
      clearInterval(cutting);
      storm.over = true;
    }
    await Promise.all(clients);
    console.log(`${ledger.acknowledged.size} acknowledged, ${storm.readings} readings`);
    expect(storm.disorder).toEqual([]);
    expect(storm.readings).toBeGreaterThan(50);
    expect(ledger.refusals.filter((line) => !line.startsWith('4'))).toEqual([]);
    for (const box of nodes.boxes) await expectKept(box, ledger, ledger.unanswered + ledger.refusals.length);
    const { acknowledged, unanswered, refusals } = ledger;
    console.log(
      `${KILLS} kills, ${acknowledged.size} acknowledged, ${unanswered} unanswered, ${refusals.length} told "later", ${storm.readings} readings`,
    );
  }, 1_800_000);
});
