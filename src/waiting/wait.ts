import type { AgentMode } from '../../mail/delivery/agent/types.ts';
import type { Caller } from '../operations/caller.ts';
import type { Audience } from '../operations/operation.ts';

const PROGRESS_MS = 10_000;

/**
 * Why a wait goes on: something changed, the time is over, nobody waits any more, the token ended, an organization that has
 * fewer needs the place, the server stops. After the last two the caller comes back with its cursor.
 */
export type Woken = 'changed' | 'time' | 'gone' | 'out' | 'displaced' | 'stopping';

export interface Waiting {
  caller: Caller;
  seconds: number;
  audience: Audience | undefined;
}

/** One caller who waits. */
export class Wait implements Disposable {
  readonly caller: Caller;
  readonly #ends: (() => void)[] = [];
  #mode: AgentMode | undefined;
  #woken: Woken | undefined;
  #tell: ((woken: Woken) => void) | undefined;
  #over: (() => void) | undefined;

  constructor({ caller, seconds, audience }: Waiting, leave: () => void) {
    this.caller = caller;
    this.#mode = caller.token?.mode;
    this.#ends.push(leave);
    const over = setTimeout(() => this.wake('time'), seconds * 1000);
    this.#ends.push(() => clearTimeout(over));
    if (audience !== undefined) this.#attend(audience, seconds);
  }

  /** Resolves with what happened since the last time that this was asked. All but a change is for good. */
  next(): Promise<Woken> {
    const woken = this.#woken;
    if (woken === 'changed') this.#woken = undefined;
    if (woken !== undefined) return Promise.resolve(woken);
    return new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  /** Whether it was woken for good. */
  get isOver(): boolean {
    return this.#woken !== undefined && this.#woken !== 'changed';
  }

  /** Calls back when it is woken for good, once. */
  whenOver(over: () => void): void {
    if (this.isOver) over();
    else this.#over = over;
  }

  wake(woken: Woken): void {
    if (this.isOver) return;
    const tell = this.#tell;
    this.#tell = undefined;
    if (tell === undefined || woken !== 'changed') this.#woken = woken;
    tell?.(woken);
    if (this.isOver) this.#over?.();
  }

  /** Says how its token may work now: that is something to look at when it has changed. */
  inMode(mode: AgentMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.wake('changed');
  }

  /** Adds something to do at the end. */
  ended(end: () => void): void {
    this.#ends.push(end);
  }

  [Symbol.dispose](): void {
    for (const end of this.#ends.splice(0)) end();
  }

  #attend({ signal, progress }: Audience, seconds: number): void {
    const gone = (): void => this.wake('gone');
    if (signal.aborted) gone();
    signal.addEventListener('abort', gone, { once: true });
    this.#ends.push(() => signal.removeEventListener('abort', gone));
    if (progress === undefined) return;
    const began = performance.now();
    const say = (): void => progress(Math.min(seconds, Math.round((performance.now() - began) / 1000)), seconds);
    say();
    const beat = setInterval(say, PROGRESS_MS);
    this.#ends.push(() => clearInterval(beat));
  }
}
