const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Pauses after failed orders, ms. An authority allows about five failures of a name an hour. */
const PAUSES = [5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

/** Pause after `failures` failed orders in a row, ms, at least what the authority demands. `random`: 0 up to 1. */
export function pauseAfter(failures: number, demandedMs: number | undefined, random: number): number {
  const pause = PAUSES[Math.min(failures, PAUSES.length) - 1] ?? 0;
  return Math.round(Math.max(demandedMs ?? 0, pause * (1 + random / 4)));
}

/** Validity of a certificate, ms UTC. */
export interface Validity {
  notBefore: number;
  notAfter: number;
}

/** Time of renewal without a window of the authority: when a third of the lifetime is left, with jitter. */
export function renewalTime({ notBefore, notAfter }: Validity, random: number): number {
  const lifetime = Math.max(0, notAfter - notBefore);
  return Math.round(notAfter - lifetime * (1 / 3 + random / 20));
}

/** Chooses a time within the authority's window; one that has passed is now. RFC 9773 4.2. */
export function timeWithin({ start, end }: { start: number; end: number }, random: number, now: number): number {
  return Math.round(Math.max(now, start + (end - start) * random));
}

/** Letters to the operator: the share of the lifetime that is left, from which each is due. */
const LETTERS = [0.28, 0.1];
/** Time of failures after which a certificate that was never issued is reported, ms. */
const FIRST_LETTER_MS = DAY;

/** Number of letters that a failing renewal should have caused by now. */
export function lettersDue(
  certificate: Validity | undefined,
  failing: { failures: number; since: number },
  now: number,
): number {
  if (failing.failures < 2) return 0;
  if (certificate === undefined) return now - failing.since >= FIRST_LETTER_MS ? 1 : 0;
  const left = (certificate.notAfter - now) / Math.max(1, certificate.notAfter - certificate.notBefore);
  return LETTERS.filter((share) => left < share).length;
}
