import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { Box } from '../support/box.ts';
import { expectKept, UNDER_LOAD } from '../support/faults.ts';
import { Ledger, load, numbered } from '../support/load.ts';
import { startNodes } from '../support/nodes.ts';
import { isPostgresInstalled, startPostgres } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';

/** The leader gives up after 5 s, and PostgreSQL keeps its locks for 20 s. */
const PATIENCE = { timeout: 60_000, interval: 100 };
/** Time in which a message that is under way must be answered, ms: the writer waits 20 s for a reply, then connects again. */
const ANSWER_MS = 60_000;

/** Sends from three clients until `until` resolves; refused ones begin again. */
async function sendTo(box: Box, prefix: string, ledger: Ledger, until: AbortSignal): Promise<void> {
  for (let round = 0; !until.aborted; round++) {
    const queue = Array.from({ length: 12 }, (_, i) => numbered(`${prefix}-${round}-${i}`, 900, i));
    await load({ port: box.port('smtp'), queue, ledger, clients: 3 });
    await delay(50);
  }
}

async function readiness(box: Box): Promise<{ status: number; leads: boolean | undefined }> {
  const response = await fetch(`http://127.0.0.1:${box.port('http')}/readyz`);
  const { leads } = (await response.json()) as { leads?: boolean };
  return { status: response.status, leads };
}

describe.skipIf(!isPostgresInstalled)('two nodes on one PostgreSQL (postgresql-15 of Debian)', () => {
  test('the leader that sees the database no more says "later", leads no longer, and loses nothing that it said', async () => {
    using server = startPostgres();
    await using first = await PostgresProxy.open(server, 'first');
    await using second = await PostgresProxy.open(server, 'second');
    await using nodes = await startNodes({
      databases: [first.url, second.url],
      local: true,
      settings: UNDER_LOAD,
    });
    const [cut, other] = nodes.boxes as [Box, Box];
    await vi.waitFor(async () => expect((await readiness(cut)).leads).toBe(true), PATIENCE);

    const [atCut, atOther] = [new Ledger(), new Ledger()];
    const [stopCut, stopOther] = [new AbortController(), new AbortController()];
    const clients = [sendTo(cut, 'cut', atCut, stopCut.signal), sendTo(other, 'other', atOther, stopOther.signal)];
    await vi.waitFor(() => expect(atCut.acknowledged.size).toBeGreaterThan(30), PATIENCE);
    first.stall();
    const silentAt = Date.now();
    const met = atOther.acknowledged.size;

    await vi.waitFor(async () => expect((await readiness(cut)).status).toBe(503), PATIENCE);
    await vi.waitFor(async () => expect(await readiness(other)).toEqual({ status: 200, leads: true }), PATIENCE);
    expect((await readiness(cut)).leads).toBe(false);
    await vi.waitFor(() => expect(atOther.acknowledged.size).toBeGreaterThan(met + 30), PATIENCE);
    await vi.waitFor(() => expect(atCut.refusals.length).toBeGreaterThan(3), PATIENCE);
    console.log(`the other node goes on, and the cut one says "later", ${Date.now() - silentAt} ms after`);
    // Replies that were on their way are no news.
    expect([...atCut.acknowledged].filter(([, at]) => at > silentAt + 1_000)).toEqual([]);

    first.recover();
    const known = atCut.acknowledged.size;
    await vi.waitFor(() => expect(atCut.acknowledged.size).toBeGreaterThan(known + 30), PATIENCE);
    stopCut.abort();
    stopOther.abort();
    await Promise.race([
      Promise.all(clients),
      delay(ANSWER_MS).then(() => Promise.reject(new Error('a client waits'))),
    ]);
    for (const ledger of [atCut, atOther]) {
      expect(ledger.refusals.filter((line) => !line.startsWith('4'))).toEqual([]);
      for (const box of nodes.boxes) await expectKept(box, ledger, ledger.unanswered + ledger.refusals.length);
    }
  }, 300_000);
});
