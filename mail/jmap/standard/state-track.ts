import type { MailStore } from '../../store/store.ts';
import type { ConditionalCommand, StateStep } from '../../store/account/state-guard.ts';
import { type StateType, typeState } from '../../store/account/type-state.ts';
import { MethodError } from '../core/errors.ts';
import { SetRefusal, stateMismatch } from './standard-set.ts';
import { formatState } from './standard-changes.ts';

/**
 * Tracks the state of a type while one method changes it in several commits. After a concurrent change, the returned
 * oldState is the one right before this method's last changes: the client does not have it, so it fetches the changes
 * since its own state and misses none. With `ifInState`, no commit follows a change that the client has not seen.
 */
export class StateTrack {
  #old: number;
  #now: number;
  readonly #strict: boolean;
  #changed = false;

  private constructor(now: number, strict: boolean) {
    this.#old = now;
    this.#now = now;
    this.#strict = strict;
  }

  /** Throws `stateMismatch` if the state differs from `ifInState`. */
  static async begin(
    store: MailStore,
    account: number,
    ifInState: string | null,
    type: StateType = 'Email',
  ): Promise<StateTrack> {
    const now = await store.read(typeState, { account, type });
    if (ifInState !== null && ifInState !== formatState(now)) throw stateMismatch();
    return new StateTrack(now, ifInState !== null);
  }

  /** State required by the next command; null for any. */
  get expected(): number | null {
    return this.#strict ? this.#now : null;
  }

  /** Runs a command that requires the expected state; throws {@link mismatch} if nothing was done. */
  async write<I, O>(store: MailStore, what: ConditionalCommand<I, O>, input: I & { account: number }): Promise<O> {
    const result = await store.write(what, { ...input, ifState: this.expected });
    if (result.kind === 'state-mismatch') throw this.mismatch();
    this.advance(result);
    return result.outcome;
  }

  /** Advances the state after a command. */
  advance({ before, after }: StateStep): void {
    if (before !== this.#now) this.#old = before;
    this.#now = after;
    this.#changed ||= before !== after;
  }

  /** The error after a command found another state than {@link expected}. */
  mismatch(): MethodError | SetRefusal {
    if (!this.#changed) return stateMismatch();
    return new SetRefusal(
      'stateMismatch',
      'Another client made changes during this call. This object was not changed.',
    );
  }

  get states(): { oldState: string; newState: string } {
    return { oldState: formatState(this.#old), newState: formatState(this.#now) };
  }
}

/** Checks for an error of {@link StateTrack.mismatch}: the object was not changed. */
export function isMismatch(error: unknown): boolean {
  const type = error instanceof SetRefusal ? error.error.type : error instanceof MethodError ? error.type : '';
  return type === 'stateMismatch';
}
