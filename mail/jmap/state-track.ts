import type { MailStore } from '../store/store.ts';
import type { InState, StateStep } from '../store/guarded.ts';
import { type StateType, typeState } from '../store/type-state.ts';
import { MethodError } from './errors.ts';
import { SetRefusal } from './set-refusal.ts';
import { stateMismatch } from './standard-set.ts';
import { formatState } from './state.ts';

/**
 * The state of a type in an account while one method changes it by several commits. Others may change it in between: then
 * the old state that is answered is the one right before our last changes, which the client does not have, so it asks
 * for the changes since its own and misses nothing. A client that said `ifInState` is promised more: no change of ours
 * follows one that it has not seen.
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

  /** Throws `stateMismatch` when the state is not the one that was asked for. */
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

  /** What the next command has to find; null: anything. */
  get expected(): number | null {
    return this.#strict ? this.#now : null;
  }

  /** Runs a command in the state that is expected; throws {@link mismatch}, and then nothing was done. */
  async write<I, O>(store: MailStore, what: InState<I, O>, input: I & { account: number }): Promise<O> {
    const told = await store.write(what, { ...input, ifState: this.expected });
    if (told.kind === 'state-mismatch') throw this.mismatch();
    this.took(told);
    return told.outcome;
  }

  /** A command has run. */
  took({ before, after }: StateStep): void {
    if (before !== this.#now) this.#old = before;
    this.#now = after;
    this.#changed ||= before !== after;
  }

  /** A command found another state than {@link expected}. */
  mismatch(): MethodError | SetRefusal {
    if (!this.#changed) return stateMismatch();
    return new SetRefusal(
      'stateMismatch',
      'Something else made changes in the middle of this call; this one was left as it was.',
    );
  }

  get states(): { oldState: string; newState: string } {
    return { oldState: formatState(this.#old), newState: formatState(this.#now) };
  }
}

/** What {@link StateTrack.mismatch} makes: nothing of the object was done. */
export function isMismatch(error: unknown): boolean {
  const type = error instanceof SetRefusal ? error.error.type : error instanceof MethodError ? error.type : '';
  return type === 'stateMismatch';
}
