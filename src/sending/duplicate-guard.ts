import { hash } from 'node:crypto';
import type { IdempotencyGuard } from '../../mail/store/queue/idempotency.ts';
import type { ApiSender } from './key-auth.ts';

/** Time for which an idempotency key is remembered. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;
const DUPLICATE_WINDOW_MS = 10 * 60_000;

/** Parameters that control duplicate detection. */
export interface Repeatable {
  idempotencyKey?: string | undefined;
  allowDuplicate?: boolean;
}

/** Parameters that control the request and are not part of the message. */
const CONTROL_FIELDS = new Set(['idempotencyKey', 'dryRun', 'allowDuplicate', 'failIfApprovalNeeded']);

/**
 * Creates the duplicate guard of a request. An idempotency key identifies it for 24 hours. Without one, identical
 * requests of agents within ten minutes count as one, as tools repeat calls after a timeout. `what` is the request as it
 * was sent.
 */
export function duplicateGuard(
  { credential, detectsDuplicates: guesses }: ApiSender,
  { idempotencyKey, allowDuplicate: again = false }: Repeatable,
  what: object,
): IdempotencyGuard | null {
  const content = Object.fromEntries(Object.entries(what).filter(([name]) => !CONTROL_FIELDS.has(name)));
  const request = Uint8Array.from(hash('sha256', canonicalJson(content), 'buffer'));
  if (idempotencyKey !== undefined) {
    return { credential, key: `key ${idempotencyKey}`, request, forMs: IDEMPOTENCY_MS, byContent: false, again: false };
  }
  if (!guesses) return null;
  const key = `same ${Buffer.from(request).toString('hex')}`;
  return { credential, key, request, forMs: DUPLICATE_WINDOW_MS, byContent: true, again };
}

/** Serializes as JSON with sorted names, as clients may order them differently each time. */
function canonicalJson(value: object): string {
  return JSON.stringify(value, (_name, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
