import type { Log } from '../../mail/log.ts';
import { Rounds } from '../letters/rounds.ts';
import { tellApprovals } from './commands.ts';
import { approvalLetters, type LetterGround } from './letter.ts';
import { askedUpTo, untoldApprovals } from './queries.ts';

const EVERY_MS = 5_000;
const TOGETHER = 20;

export type HeraldOptions = LetterGround & {
  /** A letter was queued. */
  queued: () => void;
  log: Log;
};

/** Writes to owners about mail and proposals of agents that wait for them: one letter with all of it, and then none for ten minutes. */
export class ApprovalHerald implements AsyncDisposable {
  readonly #options: HeraldOptions;
  readonly #rounds: Rounds;

  constructor(options: HeraldOptions) {
    const failed = 'owners could not be told of mail that waits, it is tried again';
    this.#options = options;
    this.#rounds = new Rounds({ round: () => this.run(), everyMs: EVERY_MS, failed, log: options.log });
  }

  /** Tells of all that nobody was told of and may be told now. */
  async run(): Promise<void> {
    const { store, clock, queued, log } = this.#options;
    for (const tenant of await store.read(untoldApprovals, { now: clock(), limit: TOGETHER })) {
      if (this.#rounds.closing) return;
      // Before the letters: what comes while they are written has its own.
      const upTo = await store.read(askedUpTo, { tenant });
      const letters = await approvalLetters(this.#options, tenant);
      const { told } = await store.write(tellApprovals, { tenant, upTo, letters });
      if (told > 0)
        log.info(
          { organization: tenant, told, letters: letters.length },
          'mail or proposals of agents wait for a person',
        );
      if (told > 0 && letters.length > 0) queued();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#rounds[Symbol.asyncDispose]();
  }
}
