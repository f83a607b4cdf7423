import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { expectIntegrity, expectKept, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, type Numbered, numberedMany } from '../support/load.ts';

const STOPS = 10;
const SEED = 11;

test(`${STOPS} stops under load lose nothing, repeat nothing and leave nobody without an answer`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD, freshPorts: true });
  const random = seeded(SEED);
  const ledger = new Ledger();
  const queue: Numbered[] = [];
  let slowest = 0;
  for (let stops = 0; stops < STOPS; stops++) {
    queue.push(...numberedMany(`stop-${stops}`, 1000, SEED + 2000 * stops));
    const running = load({ port: box.port('smtp'), queue, ledger, clients: 16 });
    await delay(50 + random(300));
    const from = performance.now();
    await box.stop(); // fails when it does not exit with 0
    slowest = Math.max(slowest, performance.now() - from);
    await running;
    await box.start();
  }
  while (queue.length > 0) await load({ port: box.port('smtp'), queue, ledger, clients: 16 });
  expect(slowest).toBeLessThan(30_000);
  expect(ledger.unanswered, 'messages that got no answer').toBe(0);
  expect(ledger.refusals.filter((reply) => !reply.startsWith('421 '))).toEqual([]);
  await expectKept(box, ledger, 0);
  await box.stop();
  expectIntegrity(box.dataDir);
  console.log(
    `${STOPS} stops, ${ledger.acknowledged.size} messages, slowest stop ${Math.round(slowest)} ms, seed ${SEED}`,
  );
});
