import { expect, test } from 'vitest';
import { fuzzCount } from '../support/fuzz-count.ts';
import { fuzz, PATIENT } from '../support/imap-fuzz.ts';
import { imapWorld } from '../support/imap-world.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_124);
const LINES = fuzzCount(100_000);
const RUN = 2500;

test(`${LINES} lines against IMAP from four states, seed ${SEED}`, async () => {
  const before = process.memoryUsage().rss;
  for (let run = 0; run * RUN * 4 < LINES; run += 1) {
    await using world = await imapWorld({ exempt: true, limits: PATIENT });
    for (let n = 0; n < 5; n += 1) world.store.deliver('INBOX', `From: a@b.example\nSubject: ${n}\n\nText\n`);
    expect(await fuzz(world, SEED + run, RUN)).toEqual([]);
    expect(world.faults).toEqual([]);
  }
  expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(150);
});
