import { query } from './engine/types.ts';
import { stateOf } from './type-state.ts';

/** State of type Email as a mod-sequence. */
export const emailState = query('email-state', (rx, input: { account: number }) => stateOf(rx, input.account, 'Email'));
