import { query, type Write } from './engine/types.ts';
import { stateOf } from './type-state.ts';

/** State of type Email as a mod-sequence. */
export const emailState = query('email-state', (rx, input: { account: number }) => stateOf(rx, input.account, 'Email'));

/** The state of type Email right before a command and right after it: nothing else changed in between. */
export interface StateStep {
  before: number;
  after: number;
}

/** The account's Email state is not the one that the client goes by; nothing was done. */
export type StateMismatch = { kind: 'state-mismatch' };

/** Runs a change if the state is the one expected, and says from which state to which it led. */
export async function guarded<T extends { kind: string }>(
  tx: Write,
  account: number,
  ifState: number | null,
  change: () => Promise<T>,
): Promise<(T & StateStep) | StateMismatch> {
  const before = await stateOf(tx, account, 'Email');
  if (ifState !== null && ifState !== before) return { kind: 'state-mismatch' };
  const outcome = await change();
  return { ...outcome, before, after: await stateOf(tx, account, 'Email') };
}
