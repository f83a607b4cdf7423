import { type Command, command, type Write } from '../engine/types.ts';
import { stateOf, type StateType } from './type-state.ts';

/** The state of a type right before and after a command. */
export interface StateStep {
  before: number;
  after: number;
}

/** The client's `ifInState` is not the current state; nothing was changed. */
export type StateMismatch = { kind: 'state-mismatch' };

/** Runs a change if the state is the expected one. Returns the states before and after it. */
export async function runIfState<T extends { kind: string }>(
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

/** A command that runs only in the state that the client expects; null: in any. */
export type ConditionalCommand<I, O> = Command<
  I & { account: number; ifState: number | null },
  ({ kind: 'done'; outcome: O } & StateStep) | StateMismatch
>;

/** Wraps a command so that it checks the state of a type in its own transaction (RFC 8620 5.3 ifInState). */
export function conditionalCommand<I, O>(type: StateType, what: Command<I, O>): ConditionalCommand<I, O> {
  return command(`${what.name} in state`, (tx, input, stamp) =>
    runIfState(
      tx,
      input.account,
      input.ifState,
      async () => ({ kind: 'done' as const, outcome: await what.run(tx, input, stamp) }),
      type,
    ),
  );
}
