import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { attach, expectIntegrity, expectKept, MOST_START_RATIO, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, type Numbered, numberedMany } from '../support/load.ts';

const KILLS = repetitions(60, 24);
const CLIENTS = 8;
const SEED = 7;

test(`${KILLS} kills at a flush or a write with mail in flight lose nothing that was acknowledged`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const random = seeded(SEED);
  const ledger = new Ledger();
  const queue: Numbered[] = [];
  const first = box.startCpu;
  let mostStartCpu = 0;
  for (let kills = 0; kills < KILLS; kills++) {
    const call = ['fsync', 'pwrite64', 'fdatasync'][kills % 3] ?? 'fsync';
    queue.push(...numberedMany(`call-${kills}`, 80, SEED + 1000 * kills));
    // fdatasync is for large messages only, in threads of its own that each count for themselves.
    const count = { fsync: 1 + random(12), pwrite64: 1 + random(200), fdatasync: 1 }[call];
    const how = ['-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${count}`];
    await using tracer = await attach(box.pid, how);
    const running = load({ port: box.port('smtp'), queue, ledger, clients: CLIENTS });
    await Promise.race([tracer.ended, running]);
    // All was sent before the call came: the next messages meet it.
    if (box.running && queue.length === 0) {
      queue.push(...numberedMany(`more-${kills}`, 400, SEED + 1000 * kills + 500));
      await Promise.race([tracer.ended, load({ port: box.port('smtp'), queue, ledger, clients: CLIENTS })]);
    }
    await tracer.ended;
    await running;
    await box.ended();
    await box.start();
    mostStartCpu = Math.max(mostStartCpu, box.startCpu);
  }
  while (queue.length > 0) await load({ port: box.port('smtp'), queue, ledger, clients: CLIENTS });
  await expectKept(box, ledger, ledger.unanswered);
  await box.stop();
  expectIntegrity(box.dataDir);
  expect(mostStartCpu / first).toBeLessThan(MOST_START_RATIO);
  console.log(
    `${KILLS} kills, ${ledger.acknowledged.size} messages, starts of ${mostStartCpu} ms of CPU at most, the first ${first} ms, seed ${SEED}`,
  );
});
