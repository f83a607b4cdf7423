import { expect, test, vi } from 'vitest';
import { StoreBackend } from '../../../mail/imap/store-backend.ts';
import { deliverMail } from '../../support/deliver-mail.ts';
import { MailboxTruth } from '../../support/imap-model/mailbox-truth.ts';
import { type ModelAccount, ModelSession } from '../../support/imap-model/session.ts';
import { runStep } from '../../support/imap-model/steps.ts';
import { ImapTruth } from '../../support/imap-model/truth.ts';
import { imapWorld, USER } from '../../support/imap-world.ts';
import { Random } from '../../support/random.ts';
import { type TestStore, testAccount, testStore } from '../../support/store.ts';
import { onPostgres } from '../../support/test-database.ts';

const STEPS = Number(process.env['MODEL_STEPS'] ?? 20_000);
const SEED = Number(process.env['MODEL_SEED'] ?? 20_261_129);
const SESSIONS = 6;
const FIRST_MAILBOXES = ['INBOX', 'Drafts', 'Sent', 'Junk', 'Trash', 'Archive'];

/** Runs sessions against the model. `logged`: how flags of ranges are logged, which an email in two mailboxes prevents. */
async function run(
  box: TestStore,
  account: number,
  steps: number,
  options: ConstructorParameters<typeof StoreBackend>[3] = {},
): Promise<void> {
  await using world = await imapWorld({
    exempt: true,
    limits: { sessionsEachAccount: 100 },
    open: () => new StoreBackend(box.store, account, () => box.clock.now, options),
  });
  const random = new Random(SEED);
  const truth = new ImapTruth(FIRST_MAILBOXES);
  const shared: ModelAccount = {
    world,
    truth,
    mailboxes: new MailboxTruth(truth),
    random,
    sessions: [],
    copies: options.logged === undefined,
    async deliver() {
      truth.append(truth.inbox(), []);
      await deliverMail(box.store, { account, to: USER }, 'Subject: arrives\n\nx\n');
    },
  };
  const { sessions } = shared;
  for (let kind = 0; kind < SESSIONS; kind += 1) sessions.push(new ModelSession(shared, kind));
  for (let step = 0; step < steps; step += 1) {
    const session = random.one(sessions);
    try {
      await runStep(session);
    } catch (error) {
      const log = session.client.log.slice(-40).join('\n');
      throw new Error(`seed ${SEED}, step ${step}: ${(error as Error).message}\n${log}`, { cause: error });
    }
  }
  for (const session of sessions) await session.check();
  for (const session of sessions) session.cut();
  expect(world.faults).toEqual([]);
}

test(
  `${STEPS} random steps of ${SESSIONS} IMAP sessions agree with a model, from the seed ${SEED}`,
  { timeout: 3_600_000 },
  async () => {
    await using box = await testStore();
    const { account } = await testAccount(box.store);
    await run(box, account, STEPS);
  },
);

// PostgreSQL writes the flags of each row at once.
test.skipIf(onPostgres)(
  `${STEPS / 4} random steps agree with the model while flags are logged, from the seed ${SEED}`,
  { timeout: 3_600_000 },
  async () => {
    await using box = await testStore();
    const { account } = await testAccount(box.store);
    const log = vi.spyOn(box.store, 'logFlags');
    // The password that the account was created with is a person's.
    await run(box, account, STEPS / 4, { actor: { credential: 1 }, logged: { above: 0, inRange: 0 } });
    const results = await Promise.all(log.mock.results.map(({ value }) => value as Promise<unknown>));
    expect(results).toContainEqual({ kind: 'done', modseq: expect.any(Number), modified: [] });
  },
);
