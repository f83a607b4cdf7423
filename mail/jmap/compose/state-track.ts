import type { MailStore } from '../../store/store.ts';
import { emailState, type StateStep } from '../../store/email-state.ts';
import type { MethodError } from '../errors.ts';
import { SetRefusal } from '../set-refusal.ts';
import { stateMismatch } from '../standard-set.ts';
import { formatState } from '../state.ts';

/**
 * The Email state of an account while one method changes it by several commits. Others may change it in between: then
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
  static async begin(store: MailStore, account: number, ifInState: string | null): Promise<StateTrack> {
    const now = await store.read(emailState, { account });
    if (ifInState !== null && ifInState !== formatState(now)) throw stateMismatch();
    return new StateTrack(now, ifInState !== null);
  }

  /** What the next command has to find; null: anything. */
  get expected(): number | null {
    return this.#strict ? this.#now : null;
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
      'Something else changed the emails in the middle of this call; this one was left as it was.',
    );
  }

  get states(): { oldState: string; newState: string } {
    return { oldState: formatState(this.#old), newState: formatState(this.#now) };
  }
}
