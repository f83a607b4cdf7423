import type { Resolver } from '../dns/lookup.ts';
import { isDnsName, isWithin } from '../dns/name.ts';
import type { Authentication, Dmarc } from './authentication.ts';
import type { DmarcPolicy } from './dmarc-record.ts';
import { type Walk, walk } from './dmarc-walk.ts';
import type { KnownPolicies, KnownPolicy } from './known-policies.ts';

/** What the author's domain publishes, as far as that could be found out. */
export interface Published extends KnownPolicy {
  domain: string;
  /** Whether anything is published for it; `unknown` where the DNS did not answer, and nothing is known from before. */
  kind: 'found' | 'nothing' | 'unknown';
  /** The DNS did not answer something that matters. */
  troubled: boolean;
}

/**
 * Finds what an author's domain asks for. Where the DNS does not answer it is what is known from before. RFC 9989 4.10.1.
 */
export async function published(domain: string, resolver: Resolver, known?: KnownPolicies): Promise<Published> {
  const nothing = { policy: 'none', strict: { dkim: false, spf: false }, domain } as const;
  // An address literal publishes nothing.
  if (!isDnsName(domain) || domain.startsWith('['))
    return { ...nothing, kind: 'nothing', organization: domain, troubled: false };
  const found = await walk(domain, resolver);
  const { organization, troubled } = found;
  const applied = apply(domain, found);
  const policy = applied && (await policyOf(applied, domain, resolver));
  // Without a record of its own it is anybody's guess what stands further up.
  if ((troubled && applied?.kind !== 'own') || policy === 'unknown') {
    const before = known?.get(domain);
    return { ...nothing, organization, ...before, kind: before === undefined ? 'unknown' : 'found', troubled: true };
  }
  if (applied === undefined || policy === undefined) return { ...nothing, kind: 'nothing', organization, troubled };
  const result = { policy, organization, strict: applied.strict };
  known?.learn(domain, result);
  return { ...result, domain, kind: 'found', troubled };
}

type Applied = { strict: KnownPolicy['strict'] } & (
  { kind: 'own'; policy: DmarcPolicy } | { kind: 'below'; below: DmarcPolicy; missing: DmarcPolicy }
);

/** The record of the domain, else of its organization, else of the public suffix above. */
function apply(domain: string, { records, organization }: Walk): Applied | undefined {
  const at = (name: string) => records.find((one) => one.domain === name)?.record;
  const own = at(domain);
  if (own !== undefined) return { kind: 'own', policy: own.policy, strict: own.strict };
  const above = at(organization) ?? records.find(({ record }) => record.suffix === 'y')?.record;
  return above && { kind: 'below', below: above.below, missing: above.missing, strict: above.strict };
}

async function policyOf(applied: Applied, domain: string, resolver: Resolver): Promise<DmarcPolicy | 'unknown'> {
  if (applied.kind === 'own') return applied.policy;
  if (applied.below === applied.missing) return applied.below;
  const missing = await isMissing(domain, resolver);
  if (missing === undefined) return 'unknown';
  return missing ? applied.missing : applied.below;
}

/** RFC 9989 A.4: only a name that does not exist at all is missing. Undefined when that could not be found out. */
async function isMissing(domain: string, resolver: Resolver): Promise<boolean | undefined> {
  const found = await resolver.a(domain);
  if (found.kind === 'trouble') return undefined;
  if (found.kind === 'found' || !found.nx) return false;
  // The answer may be that of a target which is gone.
  const alias = await resolver.cname(domain);
  return alias.kind === 'trouble' ? undefined : alias.kind === 'none';
}

/**
 * Whether SPF or DKIM vouches for the author, and what DMARC makes of it. RFC 9989 4.4, 5.3. What could not be looked up
 * might have passed, so where it could be aligned nothing fails. Elsewhere it changes nothing: anybody can add a signature
 * of a domain whose name servers are silent, and lists have trouble of their own.
 */
export async function evaluate(
  author: Published,
  { spf, dkim }: Pick<Authentication, 'spf' | 'dkim'>,
  resolver: Resolver,
): Promise<Dmarc> {
  const { policy, domain, organization, strict } = author;
  const claims = [{ ...spf, strict: strict.spf }, ...dkim.map((one) => ({ ...one, strict: strict.dkim }))];
  const alignment = (asked: 'pass' | 'temperror'): Promise<(boolean | undefined)[]> =>
    Promise.all(claims.filter(({ result }) => result === asked).map((one) => isAligned(one, author, resolver)));
  const [passed, open] = await Promise.all([alignment('pass'), alignment('temperror')]);
  const aligned = passed.includes(true);
  const unsure = author.troubled || passed.includes(undefined) || open.some((one) => one !== false);
  const rest = { policy, domain, organization, aligned, ...(unsure && !aligned && { unsure }) };
  if (author.kind === 'nothing') return { result: 'none', ...rest };
  if (author.kind === 'found' && aligned) return { result: 'pass', ...rest };
  return { result: unsure ? 'temperror' : 'fail', ...rest };
}

/**
 * Asks what {@link evaluate} will ask about a domain that may vouch for the author, as soon as it is known that it may:
 * one silent name server uses up the time for all questions, and nothing new is answered at the end.
 */
export async function askAhead(
  author: Promise<Published>,
  { method, domain }: { method: keyof Published['strict']; domain: Promise<string | undefined> },
  resolver: Resolver,
): Promise<void> {
  const [published, named] = await Promise.all([author, domain]);
  if (named !== undefined) await isAligned({ domain: named, strict: published.strict[method] }, published, resolver);
}

/** Undefined when the organization of a domain could not be found out. */
async function isAligned(
  { domain, strict }: { domain: string; strict: boolean },
  author: Published,
  resolver: Resolver,
): Promise<boolean | undefined> {
  if (domain === author.domain) return true;
  if (strict || domain === '' || !isWithin(domain, author.organization)) return false;
  if (domain === author.organization) return true;
  const { organization, troubled } = await walk(domain, resolver);
  return organization === author.organization ? true : troubled ? undefined : false;
}
