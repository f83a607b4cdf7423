import { type Command, command, type Write } from './engine/types.ts';
import { stateOf, type StateType } from './type-state.ts';

/** The state of a type right before a command and right after it: nothing else changed in between. */
export interface StateStep {
  before: number;
  after: number;
}

/** The account's state is not the one that the client goes by; nothing was done. */
export type StateMismatch = { kind: 'state-mismatch' };

/** Runs a change if the state is the one expected, and says from which state to which it led. */
export async function guarded<T extends { kind: string }>(
  tx: Write,
  account: number,
  ifState: number | null,
  change: () => Promise<T>,
  type: StateType = 'Email',
): Promise<(T & StateStep) | StateMismatch> {
  const before = await stateOf(tx, account, type);
  if (ifState !== null && ifState !== before) return { kind: 'state-mismatch' };
  const outcome = await change();
  return { ...outcome, before, after: await stateOf(tx, account, type) };
}

/** A command that is run only in the state that a client goes by; null: in any. */
export type InState<I, O> = Command<
  I & { account: number; ifState: number | null },
  ({ kind: 'done'; outcome: O } & StateStep) | StateMismatch
>;

/** Makes the command that runs `what` in a state of this type, asked in its own transaction. */
export function inState<I, O>(type: StateType, what: Command<I, O>): InState<I, O> {
  return command(`${what.name} in state`, (tx, input, stamp) =>
    guarded(
      tx,
      input.account,
      input.ifState,
      async () => ({ kind: 'done' as const, outcome: await what.run(tx, input, stamp) }),
      type,
    ),
  );
}
