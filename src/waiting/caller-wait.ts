import type { StreamClient } from '../core/stream-client.ts';
import type { Caller } from '../core/caller.ts';
import type { WaitOptions, WakeReason } from '../core/mail-waits.ts';
import type { AgentMode } from '../../mail/agents/gate/types.ts';

const PROGRESS_MS = 10_000;

/** One waiting caller. */
export class CallerWait implements Disposable {
  readonly caller: Caller;
  readonly #ends: (() => void)[] = [];
  #mode: AgentMode | undefined;
  #reason: WakeReason | undefined;
  #resolve: ((reason: WakeReason) => void) | undefined;
  #over: (() => void) | undefined;

  constructor({ caller, seconds, audience }: WaitOptions, leave: () => void) {
    this.caller = caller;
    this.#mode = caller.token?.mode;
    this.#ends.push(leave);
    const over = setTimeout(() => this.wake('time'), seconds * 1000);
    this.#ends.push(() => clearTimeout(over));
    if (audience !== undefined) this.#watchAudience(audience, seconds);
  }

  /** Resolves with the wake-up since the last call. Every reason but a change is final. */
  next(): Promise<WakeReason> {
    const reason = this.#reason;
    if (reason === 'changed') this.#reason = undefined;
    if (reason !== undefined) return Promise.resolve(reason);
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** True after a final wake-up. */
  get isOver(): boolean {
    return this.#reason !== undefined && this.#reason !== 'changed';
  }

  /** Calls back once, at the final wake-up. */
  onOver(over: () => void): void {
    if (this.isOver) over();
    else this.#over = over;
  }

  wake(reason: WakeReason): void {
    if (this.isOver) return;
    const resolve = this.#resolve;
    this.#resolve = undefined;
    if (resolve === undefined || reason !== 'changed') this.#reason = reason;
    resolve?.(reason);
    if (this.isOver) this.#over?.();
  }

  /** Sets the mode of the token; a change wakes the caller. */
  setMode(mode: AgentMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.wake('changed');
  }

  /** Adds a cleanup for the end. */
  onEnd(end: () => void): void {
    this.#ends.push(end);
  }

  [Symbol.dispose](): void {
    for (const end of this.#ends.splice(0)) end();
  }

  #watchAudience({ signal, progress }: StreamClient, seconds: number): void {
    const gone = (): void => this.wake('gone');
    if (signal.aborted) gone();
    signal.addEventListener('abort', gone, { once: true });
    this.#ends.push(() => signal.removeEventListener('abort', gone));
    if (progress === undefined) return;
    const began = performance.now();
    const report = (): void => progress(Math.min(seconds, Math.round((performance.now() - began) / 1000)), seconds);
    report();
    const timer = setInterval(report, PROGRESS_MS);
    this.#ends.push(() => clearInterval(timer));
  }
}
