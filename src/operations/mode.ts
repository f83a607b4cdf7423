import type { AgentMode } from '../../mail/delivery/agent/types.ts';
import type { Caller } from './caller.ts';
import type { Operation } from './operation.ts';
import { refuse } from './refusal.ts';

const ONLY: Record<Exclude<AgentMode, 'normal'>, string> = {
  frozen: 'This token is frozen: it may ask who it is (whoami), and nothing else',
  read_only: 'This token only reads now',
  draft_only: 'This token works in its mailboxes and writes drafts now, and does nothing else',
  reply_only: 'This token works in its mailboxes and answers now, and does nothing else',
};

/**
 * Refuses what the mode of a token does not let it do. What it sends is judged by the gate as well, with what it answers:
 * here stands what would lead around that, and around the mode itself.
 */
export function withinMode(operation: Operation, { token }: Caller): void {
  const mode = token?.mode ?? 'normal';
  if (mode === 'normal' || isWithin(operation, mode)) return;
  refuse('action_not_allowed', `${ONLY[mode]}. A person can change its mode on the page Agents.`, { mode });
}

/** What a token is told that has just been frozen over what it asked for: nothing says why. */
export function frozen(): never {
  refuse('action_not_allowed', `${ONLY.frozen}. A person can change its mode on the page Agents.`, { mode: 'frozen' });
}

/** Refuses what a call that else only reads would change beside. */
export function mayChange({ token }: Caller): void {
  const mode = token?.mode ?? 'normal';
  if (mode !== 'read_only' && mode !== 'frozen') return;
  refuse('action_not_allowed', `${ONLY[mode]}. A person can change its mode on the page Agents.`, { mode });
}

function isWithin({ name, action, toolset, hints, secret }: Operation, mode: Exclude<AgentMode, 'normal'>): boolean {
  if (mode === 'frozen') return name === 'whoami';
  // A password, a key or another token would do what this one may not.
  if (secret === true || action === 'anonymous') return false;
  return hints.readOnly || (mode !== 'read_only' && toolset === 'mail');
}
