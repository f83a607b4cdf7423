import { expect, test } from 'vitest';
import { StoreBackend } from '../../../mail/imap/store-backend.ts';
import { BOXES, ModelSession } from '../../support/imap-model.ts';
import { ImapTruth } from '../../support/imap-truth.ts';
import { imapWorld } from '../../support/imap-world.ts';
import { Random } from '../../support/random.ts';
import { testAccount, testStore } from '../../support/store.ts';

const STEPS = Number(process.env['MODEL_STEPS'] ?? 20_000);
const SEED = Number(process.env['MODEL_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const SESSIONS = 6;

test(
  `${STEPS} random steps of ${SESSIONS} IMAP sessions agree with a model, from the seed ${SEED}`,
  { timeout: 3_600_000 },
  async () => {
    await using box = await testStore();
    const { account } = await testAccount(box.store);
    await using world = await imapWorld({
      exempt: true,
      limits: { sessionsEachAccount: 100 },
      open: () => new StoreBackend(box.store, account, () => box.clock.now),
    });
    const random = new Random(SEED);
    const truth = new ImapTruth(BOXES);
    const sessions = Array.from({ length: SESSIONS }, (_, kind) => new ModelSession(world, truth, random, kind));
    for (let step = 0; step < STEPS; step += 1) {
      const session = random.one(sessions);
      try {
        await session.step();
      } catch (error) {
        const log = session.log.slice(-40).join('\n');
        throw new Error(`seed ${SEED}, step ${step}: ${(error as Error).message}\n${log}`, { cause: error });
      }
    }
    for (const session of sessions) await session.check();
    for (const session of sessions) session.end();
    expect(world.faults).toEqual([]);
  },
);
