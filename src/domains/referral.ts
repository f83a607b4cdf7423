import type { DecodedPacket } from 'dns-packet';

/** More names than this no zone has for a good reason. */
const MOST_NAMES = 20;
const HOST = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;

/**
 * The name servers that a server of the zone above gives for a domain: of its referral, or of its answer where it knows
 * both zones. None when it is sure that there are none; undefined when what it says is no word on the matter. RFC 1034
 * 4.3.2, RFC 2308 2.
 */
export function referredTo(said: DecodedPacket, domain: string): string[] | undefined {
  const code = said.flags === undefined ? undefined : said.flags & 15;
  if (code !== 0 && code !== 3) return undefined;
  const names = [...(said.answers ?? []), ...(said.authorities ?? [])].flatMap((record) =>
    record.type === 'NS' && record.name.toLowerCase() === domain ? [record.data.toLowerCase()] : [],
  );
  if (code === 0 && names.length > 0) {
    return [...new Set(names.filter((one) => HOST.test(one)))].slice(0, MOST_NAMES);
  }
  // Without authority it is a referral to elsewhere, or something that was remembered.
  return said.flag_aa ? [] : undefined;
}

/**
 * What the servers of the zone above say together: changes reach them one after another, so a name that one of them
 * gives counts. Undefined when none has a word on the matter.
 */
export function together(said: readonly (readonly string[] | undefined)[]): string[] | undefined {
  const known = said.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : [...new Set(known.flat())];
}
