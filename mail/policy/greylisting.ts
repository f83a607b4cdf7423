import { createHash } from 'node:crypto';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** RFC 6647 5: long enough that what never queues gives up, short enough that who does is not late. */
export const COME_AGAIN_AFTER = 5 * MINUTE;
export const COME_AGAIN_WITHIN = DAY;
export const REMEMBERED_FOR = 35 * DAY;
/** So many triplets of one network that came again show that mail queues there. */
const NETWORK_KNOWN = 3;

/** What is known when a recipient is named. Times in ms UTC; 0: never. */
export interface FirstTry {
  now: number;
  /** Of the first try that was sent away. */
  triedAt: number;
  passedUntil: number;
  networkPasses: number;
  known: boolean;
}

/** `wait`: come again; `begin`: come again, counted from now; `passed`: has come again; `pass`: need not. RFC 6647. */
export function greylisted(facts: FirstTry): 'pass' | 'passed' | 'wait' | 'begin' {
  const { now, triedAt, passedUntil, networkPasses, known } = facts;
  if (known || passedUntil > now || networkPasses >= NETWORK_KNOWN) return 'pass';
  const waited = now - triedAt;
  if (triedAt === 0 || waited > COME_AGAIN_WITHIN || waited < 0) return 'begin';
  return waited < COME_AGAIN_AFTER ? 'wait' : 'passed';
}

/**
 * Under what a try is remembered. Senders that are another one for each message (numbers in them, what follows a plus)
 * are one. Two that meet in a number let each other pass, no more.
 */
export function tripletOf(network: string, sender: string, recipient: string): number {
  const at = sender.lastIndexOf('@');
  const local = sender
    .slice(0, Math.max(0, at))
    .replace(/\d+/g, '#')
    .replace(/[+=].*$/s, '');
  const text = [network, `${local}${sender.slice(Math.max(0, at))}`, recipient].join('\0');
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
