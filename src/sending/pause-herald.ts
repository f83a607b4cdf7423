import type { Log, Meter } from '../../mail/log.ts';
import { type PausedSender, untoldPauses } from '../../mail/store/paused-sender.ts';
import type { Post } from '../letters/letter.ts';
import { Rounds } from '../letters/rounds.ts';
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
  readonly #rounds: Rounds;

  constructor(options: HeraldOptions) {
    const failed = 'owners could not be told that a sender is paused, it is tried again';
    this.#options = options;
    this.#rounds = new Rounds({ round: () => this.run(), everyMs: EVERY_MS, failed, log: options.log });
  }

  /** Tells of all that nobody was told of. */
  async run(): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const untold = await store.read(untoldPauses, { limit: TOGETHER });
      for (const paused of untold) await this.#tell(paused);
      if (untold.length < TOGETHER || this.#rounds.closing) return;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#rounds[Symbol.asyncDispose]();
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
