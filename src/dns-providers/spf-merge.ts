import ipaddr from 'ipaddr.js';
import { addressTerms } from '../domains/records.ts';
import { MAX_SPF_LOOKUPS } from '../domains/spf.ts';
import { parseSpf, type SpfMechanism } from '../domains/spf-record.ts';

const LOOKUP = /^(?:include|a|mx|ptr|exists)$/;
/** Octets of a record, so that a response fits into UDP. RFC 7208 3.4. */
const MAX_OCTETS = 450;

/** This server, as an SPF record authorizes it. */
export interface SpfOwner {
  hostname: string;
  /** Addresses of the settings; left out: those of the host name. */
  outbound?: readonly string[] | undefined;
}

/** The terms by which this server is authorized in another's record. */
function termsOf({ hostname, outbound }: SpfOwner): string[] {
  return outbound === undefined ? [`a:${hostname}`] : addressTerms(outbound);
}

export type SpfMerge = { kind: 'authorized' } | { kind: 'merged'; text: string } | { kind: 'impossible'; why: string };

/** Adds this server to an SPF record that somebody else wrote. `ownMx`: the MX of the domain is this server alone. */
export function mergeSpf(text: string, owner: SpfOwner, ownMx: boolean): SpfMerge {
  const record = parseSpf(text);
  if ('bad' in record)
    return { kind: 'impossible', why: 'the SPF record there is invalid: correct it, then try again' };
  const end = record.mechanisms.findIndex(({ name }) => name === 'all');
  const before = end === -1 ? record.mechanisms : record.mechanisms.slice(0, end);
  const passing = before.filter(({ qualifier }) => qualifier === '' || qualifier === '+');
  if (isAuthorized(passing, owner, ownMx)) return { kind: 'authorized' };
  // A lower bound: the includes are counted before anything is written (reviewSpf).
  const lookups = record.mechanisms.filter(({ name }) => LOOKUP.test(name)).length;
  const needed = lookups + (record.redirect === undefined ? 0 : 1) + (owner.outbound === undefined ? 1 : 0);
  if (needed > MAX_SPF_LOOKUPS) {
    return { kind: 'impossible', why: 'the SPF record there has 10 DNS lookups already: remove one, then try again' };
  }
  const there = new Set(before.map((one) => one.text.toLowerCase()));
  const merged = inserted(
    text,
    termsOf(owner).filter((term) => !there.has(term)),
  );
  if (merged.length > MAX_OCTETS) {
    return { kind: 'impossible', why: 'the SPF record there is too long for another term: shorten it, then try again' };
  }
  return { kind: 'merged', text: merged };
}

function isAuthorized(passing: readonly SpfMechanism[], { hostname, outbound }: SpfOwner, ownMx: boolean): boolean {
  if (outbound !== undefined) return outbound.every((ip) => passing.some((one) => coversAddress(one, ip)));
  return passing.some(
    ({ name, value }) => (name === 'a' && value.toLowerCase() === hostname) || (name === 'mx' && value === '' && ownMx),
  );
}

function coversAddress({ name, value, four, six }: SpfMechanism, ip: string): boolean {
  if (name !== 'ip4' && name !== 'ip6') return false;
  const [mine, other] = [ipaddr.parse(ip), ipaddr.parse(value)];
  return mine.kind() === other.kind() && mine.match(other, name === 'ip6' ? six : four);
}

/** Inserts behind the version, where no term before it can reject this server. */
function inserted(text: string, terms: readonly string[]): string {
  const [version = '', ...rest] = text.split(/ +/);
  return [version, ...terms, ...rest.filter((one) => one !== '')].join(' ');
}

/**
 * Takes the terms that a merge added out of a record that was changed meanwhile; undefined if none is there.
 * `merged`, `before`: the record after and before the merge.
 */
export function withoutMerge(text: string, { merged, before }: { merged: string; before: string }): string | undefined {
  const foreign = new Set(before.split(/ +/).map((one) => one.toLowerCase()));
  const ours = merged.split(/ +/).filter((one) => !foreign.has(one.toLowerCase()));
  const terms = text.split(' ');
  const left = terms.filter((one) => !ours.some((own) => own.toLowerCase() === one.toLowerCase()));
  return left.length === terms.length ? undefined : left.join(' ');
}
