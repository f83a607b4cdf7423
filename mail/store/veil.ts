import { query } from './engine/types.ts';
import { type Hand, isPersons } from './hand.ts';

/**
 * A message that carries a link by which somebody is let in, or decides: programs are shown its header, and this in place
 * of every octet behind it. Line ends stay, and so does the size.
 */
const INSTEAD = Buffer.from(
  'Hidden from programs: this mail carries a link that acts for a person. A person reads it, with an app password of their own. ',
);

const CR = 13;
const LF = 10;

/** Whether who reads is a person: they see all. Without a hand it is a program. */
export const readsAsPerson = query(
  'reads-as-person',
  (rx, { account, hand }: { account: number; hand: Hand | undefined }): Promise<boolean> =>
    isPersons(rx, account, hand),
);

/**
 * What a program is shown of octets that begin at `start` of a message, which is veiled from the octet `from` on; both
 * are counted from the same place.
 */
export function veiled(octets: Uint8Array, start: number, from: number): Buffer {
  const shown = Buffer.from(octets);
  for (let at = Math.max(0, from - start); at < shown.length; at++) {
    const octet = shown[at];
    if (octet !== CR && octet !== LF) shown[at] = INSTEAD[(start + at - from) % INSTEAD.length] ?? 0;
  }
  return shown;
}
