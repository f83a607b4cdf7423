import type { Log } from '../../mail/log.ts';
import { tellApprovals } from './commands.ts';
import { approvalLetters, type LetterGround } from './letter.ts';
import { untoldApprovals } from './queries.ts';

const EVERY_MS = 5_000;
const TOGETHER = 20;

export type HeraldOptions = LetterGround & {
  /** A letter was queued. */
  queued: () => void;
  log: Log;
};

/** Writes to owners about mail of agents that waits for them: one letter with all of it, and then none for ten minutes. */
export class ApprovalHerald implements AsyncDisposable {
  readonly #options: HeraldOptions;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;

  constructor(options: HeraldOptions) {
    this.#options = options;
    this.#timer = this.#later();
  }

  /** Tells of all that nobody was told of and may be told now. */
  async run(): Promise<void> {
    const { store, clock, queued, log } = this.#options;
    for (const tenant of await store.read(untoldApprovals, { now: clock(), limit: TOGETHER })) {
      if (this.#closing) return;
      const letters = await approvalLetters(this.#options, tenant);
      const { told } = await store.write(tellApprovals, { tenant, letters });
      if (told > 0)
        log.info({ organization: tenant, told, letters: letters.length }, 'mail of agents waits for a person');
      if (told > 0 && letters.length > 0) queued();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.run()
        .catch((error: unknown) =>
          this.#options.log.error({ err: error }, 'owners could not be told of mail that waits, it is tried again'),
        )
        .finally(() => {
          if (!this.#closing) this.#timer = this.#later();
        });
    }, EVERY_MS).unref();
  }
}
