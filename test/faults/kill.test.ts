import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { expectIntegrity, expectKept, MOST_START_RATIO, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';

const KILLS = repetitions(40, 16);
const MESSAGES = 125 * KILLS;
const CLIENTS = 8;
const SEED = 20_261_121;

test(`${KILLS} kills during ${MESSAGES} messages lose nothing that was acknowledged`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const random = seeded(SEED);
  const ledger = new Ledger();
  const queue = numberedMany('kill', MESSAGES, SEED);
  const first = box.startCpu;
  let mostStartCpu = 0;
  for (let kills = 0; kills < KILLS; kills++) {
    // Leaves enough for every kill to meet mail on its way.
    const share = Math.floor((queue.length / (KILLS - kills)) * 0.8);
    const target = ledger.acknowledged.size + random(Math.max(1, share));
    const running = load({ port: box.port('smtp'), queue, ledger, clients: CLIENTS });
    const moment = kills % 2 === 0 ? afterSome(ledger, target) : afterDot(ledger, target, random(50) / 10);
    await Promise.race([moment, running]);
    await box.kill();
    await running;
    await box.start();
    mostStartCpu = Math.max(mostStartCpu, box.startCpu);
  }
  while (queue.length > 0) await load({ port: box.port('smtp'), queue, ledger, clients: CLIENTS });
  expect(ledger.acknowledged.size).toBe(MESSAGES);
  expect(ledger.refusals).toEqual([]);
  await expectKept(box, ledger, ledger.unanswered);
  await box.stop();
  expectIntegrity(box.dataDir);
  expect(mostStartCpu / first).toBeLessThan(MOST_START_RATIO);
  console.log(
    `${KILLS} kills, ${ledger.unanswered} in flight at them, starts of ${mostStartCpu} ms of CPU at most, the first ${first} ms, seed ${SEED}`,
  );
});

function afterSome(ledger: Ledger, target: number): Promise<void> {
  return new Promise((resolve) => {
    ledger.onDot = () => {};
    ledger.onAcknowledged = () => {
      if (ledger.acknowledged.size > target) resolve();
    };
  });
}

/** The moment that counts most: the end of data is sent, the commit is under way. */
async function afterDot(ledger: Ledger, target: number, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    ledger.onAcknowledged = () => {};
    ledger.onDot = () => {
      if (ledger.acknowledged.size >= target) resolve();
    };
  });
  await delay(ms);
}
