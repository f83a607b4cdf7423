import { parseSpf } from '../domains/spf-record.ts';

/** RFC 7208 4.6.4: more lookups are a permerror. */
const MAX_LOOKUPS = 10;
const LOOKUP = /^(?:include|a|mx|ptr|exists)$/;
/** Octets of a record, so that a response fits into UDP. RFC 7208 3.4. */
const MAX_OCTETS = 450;

/** The term by which this server is authorized in another's record. */
const termOf = (hostname: string): string => `a:${hostname}`;

export type SpfMerge = { kind: 'authorized' } | { kind: 'merged'; text: string } | { kind: 'impossible'; why: string };

/** Adds this server to an SPF record that somebody else wrote. `ownMx`: the MX of the domain is this server alone. */
export function mergeSpf(text: string, hostname: string, ownMx: boolean): SpfMerge {
  const record = parseSpf(text);
  if ('bad' in record)
    return { kind: 'impossible', why: 'the SPF record there is invalid: correct it, then try again' };
  const end = record.mechanisms.findIndex(({ name }) => name === 'all');
  const before = end === -1 ? record.mechanisms : record.mechanisms.slice(0, end);
  const authorized = before.some(({ qualifier, name, value }) => {
    if (qualifier !== '' && qualifier !== '+') return false;
    return (name === 'a' && value.toLowerCase() === hostname) || (name === 'mx' && value === '' && ownMx);
  });
  if (authorized) return { kind: 'authorized' };
  const lookups = record.mechanisms.filter(({ name }) => LOOKUP.test(name)).length;
  if (lookups + (record.redirect === undefined ? 0 : 1) >= MAX_LOOKUPS) {
    return { kind: 'impossible', why: 'the SPF record there has 10 DNS lookups already: remove one, then try again' };
  }
  const merged = inserted(text, termOf(hostname));
  if (merged.length > MAX_OCTETS) {
    return { kind: 'impossible', why: 'the SPF record there is too long for another term: shorten it, then try again' };
  }
  return { kind: 'merged', text: merged };
}

/** Inserts behind the version, where no term before it can reject this server. */
function inserted(text: string, term: string): string {
  const [version = '', ...rest] = text.split(/ +/);
  return [version, term, ...rest.filter((one) => one !== '')].join(' ');
}

/** Takes the term of this server out of a record that was changed meanwhile; undefined if it is not there. */
export function withoutTerm(text: string, hostname: string): string | undefined {
  const terms = text.split(' ');
  const left = terms.filter((one) => one.toLowerCase() !== termOf(hostname));
  return left.length === terms.length ? undefined : left.join(' ');
}
