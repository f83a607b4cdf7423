import type { Log, Meter } from '../../mail/log.ts';
import { type PausedSender, untoldPauses } from '../../mail/store/paused-sender.ts';
import type { Post } from '../letters/letter.ts';
import { tellPause } from './pause-commands.ts';
import { pauseLetters } from './pause-letter.ts';

const EVERY_MS = 5_000;
const TOGETHER = 20;

export type HeraldOptions = Post & {
  /** A letter was queued. */
  queued: () => void;
  log: Log;
  metrics: Meter;
};

/** Tells owners whose mailbox or key was paused: once a pause, also of those before this start. */
export class PauseHerald implements AsyncDisposable {
  readonly #options: HeraldOptions;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;

  constructor(options: HeraldOptions) {
    this.#options = options;
    this.#timer = this.#later();
  }

  /** Tells of all that nobody was told of. */
  async run(): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const untold = await store.read(untoldPauses, { limit: TOGETHER });
      for (const paused of untold) await this.#tell(paused);
      if (untold.length < TOGETHER || this.#closing) return;
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
          this.#options.log.error(
            { err: error },
            'owners could not be told that a sender is paused, it is tried again',
          ),
        )
        .finally(() => {
          if (!this.#closing) this.#timer = this.#later();
        });
    }, EVERY_MS).unref();
  }

  async #tell(paused: PausedSender): Promise<void> {
    const { store, queued, log, metrics } = this.#options;
    const { sender, tenant, account, pausedAt, why, figures } = paused;
    const letters = await pauseLetters(this.#options, paused);
    const { told } = await store.write(tellPause, { sender, pausedAt, letters });
    if (!told) return;
    metrics.count('senders_paused_total', { kind: account === null ? 'key' : 'mailbox' });
    log.warn({ sender, organization: tenant, account, why, figures, letters: letters.length }, 'a sender was paused');
    if (letters.length > 0) queued();
  }
}
