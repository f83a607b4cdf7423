/** Beats in which a busy thread has to respond: 30 s in total. */
const BEAT_MS = 5_000;
const BEATS = 6;

export interface WatchdogOptions {
  /** True while the thread owes a result. */
  isBusy: () => boolean;
  /** Asks the thread for a sign of life, which the owner reports to {@link Watchdog.heard}. */
  ping: () => void;
  /** Called once: the thread was silent for too long. */
  onSilent: () => void;
  beatMs?: number;
}

/**
 * Detects a thread that no longer responds. Counts beats and not time: when the calling thread itself is held up or the
 * machine sleeps, that is one beat.
 */
export class Watchdog implements Disposable {
  readonly #options: WatchdogOptions;
  readonly #timer: NodeJS.Timeout;
  #silent = 0;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#beat(), options.beatMs ?? BEAT_MS).unref();
  }

  /** Reports any message of the thread. */
  heard(): void {
    this.#silent = 0;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const { isBusy, ping, onSilent } = this.#options;
    if (!isBusy()) this.#silent = 0;
    else if (this.#silent++ < BEATS) ping();
    else {
      this[Symbol.dispose]();
      onSilent();
    }
  }
}
