import { hash } from 'node:crypto';
import type { Guard } from '../../mail/store/sent-before.ts';
import type { Sender } from './key-auth.ts';

/** How long a request that is exact is known again. */
export const KEY_MS = 24 * 3_600_000;
const GUESS_MS = 10 * 60_000;

/** How a request says whether it is the same as another one. */
export interface Repeatable {
  idempotencyKey?: string | undefined;
  allowDuplicate?: boolean;
}

/** What is about the asking and not about what is asked. */
const ASKING = new Set(['idempotencyKey', 'dryRun', 'allowDuplicate', 'failIfApprovalNeeded']);

/**
 * An idempotency key is exact for a day. Without one, what agents send twice within ten minutes is taken for one message:
 * their tools repeat calls whose answers they did not see. `what` is all that was asked, and not what became of it.
 */
export function guardOf(
  { credential, guesses }: Sender,
  { idempotencyKey, allowDuplicate: again = false }: Repeatable,
  what: object,
): Guard | null {
  const asked = Object.fromEntries(Object.entries(what).filter(([name]) => !ASKING.has(name)));
  const request = Uint8Array.from(hash('sha256', orderless(asked), 'buffer'));
  if (idempotencyKey !== undefined) {
    return { credential, key: `key ${idempotencyKey}`, request, forMs: KEY_MS, guess: false, again: false };
  }
  if (!guesses) return null;
  const key = `same ${Buffer.from(request).toString('hex')}`;
  return { credential, key, request, forMs: GUESS_MS, guess: true, again };
}

/** JSON with the names of every object in one order: programs that keep theirs in maps write them in another each time. */
function orderless(value: object): string {
  return JSON.stringify(value, (_name, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
