import { createHash } from 'node:crypto';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Time before a retry is accepted. RFC 6647 5: spam programs give up, and real mail is not much delayed. */
export const MIN_RETRY_DELAY_MS = 5 * MINUTE;
export const MAX_RETRY_DELAY_MS = DAY;
export const TRIPLET_LIFETIME_MS = 35 * DAY;
/** Successful retries after which a whole network passes: it has mail queues. */
const MIN_NETWORK_PASSES = 3;

/** Facts at RCPT TO. Times in ms UTC; 0: never. */
export interface GreylistInput {
  now: number;
  /** First attempt that was deferred. */
  triedAt: number;
  passedUntil: number;
  networkPasses: number;
  known: boolean;
}

/** Greylisting decision. `wait`: defer; `begin`: defer, a new triplet; `passed`: accept this retry; `pass`: exempt. RFC 6647. */
export function evaluateGreylisting(facts: GreylistInput): 'pass' | 'passed' | 'wait' | 'begin' {
  const { now, triedAt, passedUntil, networkPasses, known } = facts;
  if (known || passedUntil > now || networkPasses >= MIN_NETWORK_PASSES) return 'pass';
  const waited = now - triedAt;
  if (triedAt === 0 || waited > MAX_RETRY_DELAY_MS || waited < 0) return 'begin';
  return waited < MIN_RETRY_DELAY_MS ? 'wait' : 'passed';
}

/**
 * Hashes network, sender and recipient. Digits and the part after `+` in the sender are ignored, since they often change
 * with each message. A collision only lets a triplet pass.
 */
export function tripletHash(network: string, sender: string, recipient: string): number {
  const at = sender.lastIndexOf('@');
  const local = sender
    .slice(0, Math.max(0, at))
    .replace(/\d+/g, '#')
    .replace(/[+=].*$/s, '');
  const text = [network, `${local}${sender.slice(Math.max(0, at))}`, recipient].join('\0');
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
