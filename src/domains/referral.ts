import type { DecodedPacket } from 'dns-packet';

/** Accepted name servers of a zone. */
const MAX_NAMES = 20;
const HOST = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;

/**
 * Name servers of a domain in a response from the parent zone: from its referral, or from its answer if it serves both zones.
 * Empty if it is authoritative that there are none; undefined if the response does not decide. RFC 1034 4.3.2, RFC 2308 2.
 */
export function nameServersIn(response: DecodedPacket, domain: string): string[] | undefined {
  const code = response.flags === undefined ? undefined : response.flags & 15;
  if (code !== 0 && code !== 3) return undefined;
  const names = [...(response.answers ?? []), ...(response.authorities ?? [])].flatMap((record) =>
    record.type === 'NS' && record.name.toLowerCase() === domain ? [record.data.toLowerCase()] : [],
  );
  if (code === 0 && names.length > 0) {
    return [...new Set(names.filter((one) => HOST.test(one)))].slice(0, MAX_NAMES);
  }
  // Without AA it is a referral elsewhere, or cached data.
  return response.flag_aa ? [] : undefined;
}

/**
 * Merges the responses of the parent zone's servers: changes reach them one after another, so a name from any of them counts.
 * Undefined without an authoritative response.
 */
export function mergeReferrals(responses: readonly (readonly string[] | undefined)[]): string[] | undefined {
  const known = responses.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : [...new Set(known.flat())];
}
