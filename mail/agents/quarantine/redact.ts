import { flagless, lookup } from '../../store/engine/types.ts';
import { type Actor, isHuman } from '../../store/actor.ts';

/**
 * Replaces the body of a message with a sign-in or action link when programs read it; the header is shown. Line ends and the
 * size stay.
 */
const REPLACEMENT = Buffer.from(
  'Hidden from programs: this message contains a link that acts for a person. A person can read it with their own app password. ',
);

const CR = 13;
const LF = 10;

/** Tests if the reader is a person: people see everything. Without an actor it is a program. */
export const readsAsHuman = flagless(
  lookup('reads-as-person', (rx, { account, actor }: { account: number; actor: Actor | undefined }): Promise<boolean> =>
    isHuman(rx, account, actor),
  ),
);

/**
 * Redacts octets that begin at `start` of a message and are redacted from `from` on; both count from the same place.
 */
export function redacted(octets: Uint8Array, start: number, from: number): Buffer {
  const shown = Buffer.from(octets);
  for (let at = Math.max(0, from - start); at < shown.length; at++) {
    const octet = shown[at];
    if (octet !== CR && octet !== LF) shown[at] = REPLACEMENT[(start + at - from) % REPLACEMENT.length] ?? 0;
  }
  return shown;
}
