import type { StateType } from '../../store/type-state.ts';

/** Accounts beyond which a position would be longer than a header line should be. */
const MOST_ACCOUNTS = 50;

/**
 * How far a client has heard, as one word: the newest mod-sequence of each account. It comes back as Last-Event-ID or
 * pushState, and what is newer is told at once. Undefined: too many accounts for it.
 */
export function pushPosition(states: ReadonlyMap<string, Readonly<Record<StateType, number>>>): string | undefined {
  if (states.size > MOST_ACCOUNTS) return undefined;
  return [...states].map(([id, now]) => `${id}:${Math.max(...Object.values(now)).toString(36)}`).join(',');
}

/** What {@link pushPosition} wrote. Undefined: none of ours. */
export function readPosition(text: string): Map<string, number> | undefined {
  if (!/^(?:[\w-]{1,40}:[0-9a-z]{1,11})(?:,[\w-]{1,40}:[0-9a-z]{1,11}){0,49}$/.test(text)) return undefined;
  return new Map(
    text.split(',').map((one) => {
      const [id = '', modseq = ''] = one.split(':');
      return [id, Number.parseInt(modseq, 36)];
    }),
  );
}
