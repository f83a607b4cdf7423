import type { Resolver } from '../dns/lookup.ts';
import { isDnsName, isWithin } from '../dns/name.ts';
import type { Authentication, Dmarc } from './authentication.ts';
import type { DmarcPolicy } from './dmarc-record.ts';
import { type DnsTreeWalk, walkDnsTree } from './dmarc-walk.ts';
import type { DmarcPolicyCache, DomainPolicy } from './dmarc-policy-cache.ts';

/** DMARC policy of the author's domain. */
export interface PublishedDmarcPolicy extends DomainPolicy {
  domain: string;
  /** `unknown`: a lookup failed and no policy is cached. */
  kind: 'found' | 'nothing' | 'unknown';
  /** A relevant lookup failed. */
  lookupFailed: boolean;
  /** Domain whose record applied and asks for aggregate reports. */
  reportDomain?: string;
}

/** Finds the DMARC policy of an author's domain; falls back to the cached one if DNS fails. RFC 9989 4.10.1. */
export async function findPublishedPolicy(
  domain: string,
  resolver: Resolver,
  known?: DmarcPolicyCache,
): Promise<PublishedDmarcPolicy> {
  const nothing = { policy: 'none', strict: { dkim: false, spf: false }, domain } as const;
  // An address literal publishes nothing.
  if (!isDnsName(domain) || domain.startsWith('['))
    return { ...nothing, kind: 'nothing', organization: domain, lookupFailed: false };
  const found = await walkDnsTree(domain, resolver);
  const { organization, lookupFailed: troubled } = found;
  const applied = selectRecord(domain, found);
  const policy = applied && (await policyOf(applied, domain, resolver));
  // Without an own record, the failed lookup may hide the policy of a parent domain.
  if ((troubled && applied?.kind !== 'own') || policy === 'unknown') {
    const before = known?.get(domain);
    return {
      ...nothing,
      organization,
      ...before,
      kind: before === undefined ? 'unknown' : 'found',
      lookupFailed: true,
    };
  }
  if (applied === undefined || policy === undefined)
    return { ...nothing, kind: 'nothing', organization, lookupFailed: troubled };
  const result = { policy, organization, strict: applied.strict };
  known?.record(domain, result);
  const { reportDomain } = applied;
  return {
    ...result,
    domain,
    kind: 'found',
    lookupFailed: troubled,
    ...(reportDomain !== undefined && { reportDomain }),
  };
}

type ApplicableRecord = { strict: DomainPolicy['strict']; reportDomain?: string } & (
  { kind: 'own'; policy: DmarcPolicy } | { kind: 'below'; below: DmarcPolicy; missing: DmarcPolicy }
);

/** Selects the record of the domain, else of its organization, else of the public suffix above. */
function selectRecord(domain: string, { records, organization }: DnsTreeWalk): ApplicableRecord | undefined {
  const at = (name: string) => records.find((one) => one.domain === name);
  const applied = at(domain) ?? at(organization) ?? records.find(({ record }) => record.suffix === 'y');
  if (applied === undefined) return undefined;
  const { policy, below, missing, strict, reports } = applied.record;
  const common = { strict, ...(reports && { reportDomain: applied.domain }) };
  return applied.domain === domain ? { kind: 'own', policy, ...common } : { kind: 'below', below, missing, ...common };
}

async function policyOf(
  applied: ApplicableRecord,
  domain: string,
  resolver: Resolver,
): Promise<DmarcPolicy | 'unknown'> {
  if (applied.kind === 'own') return applied.policy;
  if (applied.below === applied.missing) return applied.below;
  const missing = await isMissing(domain, resolver);
  if (missing === undefined) return 'unknown';
  return missing ? applied.missing : applied.below;
}

/** RFC 9989 A.4: true only for NXDOMAIN. Undefined if the lookup failed. */
async function isMissing(domain: string, resolver: Resolver): Promise<boolean | undefined> {
  const found = await resolver.a(domain);
  if (found.kind === 'trouble') return undefined;
  if (found.kind === 'found' || !found.nx) return false;
  // The NXDOMAIN may belong to the target of a CNAME.
  const alias = await resolver.cname(domain);
  return alias.kind === 'trouble' ? undefined : alias.kind === 'none';
}

/**
 * Evaluates DMARC from the SPF and DKIM results. RFC 9989 4.4, 5.3. A `temperror` that could align prevents a failure.
 * One that cannot align changes nothing: anyone can add a signature of a domain whose name servers do not answer.
 */
export async function evaluateDmarc(
  author: PublishedDmarcPolicy,
  { spf, dkim }: Pick<Authentication, 'spf' | 'dkim'>,
  resolver: Resolver,
): Promise<Dmarc> {
  const { policy, domain, organization, strict } = author;
  const claims = { spf: [{ ...spf, strict: strict.spf }], dkim: dkim.map((one) => ({ ...one, strict: strict.dkim })) };
  const alignment = (method: keyof typeof claims, wanted: 'pass' | 'temperror'): Promise<(boolean | undefined)[]> =>
    Promise.all(
      claims[method].filter(({ result }) => result === wanted).map((one) => isAligned(one, author, resolver)),
    );
  const [bySpf, byDkim, ...rest] = await Promise.all([
    alignment('spf', 'pass'),
    alignment('dkim', 'pass'),
    alignment('spf', 'temperror'),
    alignment('dkim', 'temperror'),
  ]);
  const [passed, open] = [[...bySpf, ...byDkim], rest.flat()];
  const aligned = passed.includes(true);
  const unsure = author.lookupFailed || passed.includes(undefined) || open.some((one) => one !== false);
  const reporting = author.reportDomain !== undefined && {
    reporting: { domain: author.reportDomain, spf: bySpf.includes(true), dkim: byDkim.includes(true) },
  };
  const facts = { policy, domain, organization, aligned, ...(unsure && !aligned && { unsure }), ...reporting };
  if (author.kind === 'nothing') return { result: 'none', ...facts };
  if (author.kind === 'found' && aligned) return { result: 'pass', ...facts };
  return { result: unsure ? 'temperror' : 'fail', ...facts };
}

/**
 * Prefetches the alignment lookup of {@link evaluateDmarc} for a domain that may align, as soon as it is known. One
 * silent name server could otherwise use up the time limit before these lookups start.
 */
export async function prefetchAlignment(
  author: Promise<PublishedDmarcPolicy>,
  { method, domain }: { method: keyof PublishedDmarcPolicy['strict']; domain: Promise<string | undefined> },
  resolver: Resolver,
): Promise<void> {
  const [published, named] = await Promise.all([author, domain]);
  if (named !== undefined) await isAligned({ domain: named, strict: published.strict[method] }, published, resolver);
}

/** Returns undefined if the organizational domain could not be determined. */
async function isAligned(
  { domain, strict }: { domain: string; strict: boolean },
  author: PublishedDmarcPolicy,
  resolver: Resolver,
): Promise<boolean | undefined> {
  if (domain === author.domain) return true;
  if (strict || domain === '' || !isWithin(domain, author.organization)) return false;
  if (domain === author.organization) return true;
  const { organization, lookupFailed: troubled } = await walkDnsTree(domain, resolver);
  return organization === author.organization ? true : troubled ? undefined : false;
}
