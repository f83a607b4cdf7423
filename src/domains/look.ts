import type { Settings } from '../../config/settings.ts';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import type { DomainInfo } from '../../mail/store/address/domain.ts';
import type { Command, Store } from '../../mail/store/engine/types.ts';
import { domainSetup } from './setup.ts';
import { type RecordChecks, examineDomain, recordKey, domainVerdict, within } from './check.ts';
import { type CheckOutcome, recordCheck, setManaged, type DomainVerdict } from './commands.ts';
import type { SigningKeys } from './domains.ts';
import type { QueryParents } from './parents.ts';
import { type Delegation, publishedKeys } from './queries.ts';
import { sendingServer } from './sending-server.ts';
import { ownStsPolicy } from './sts-queries.ts';
import { type SeenRecord, recordServer, requiredRecords, keyZone, ownServer } from './records.ts';

export interface DomainCheckContext {
  store: Store;
  settings: Settings;
  /** No cache: people check right after a change. */
  lookNow: Resolver;
  parents: QueryParents;
  keys: Pick<SigningKeys, 'evict'>;
  /** Runs a command; adds an audit row if a caller requested the check. */
  write<I, O>(what: Command<I, O>, input: I): Promise<O>;
}

/** Snapshot of the last check, stored as JSON in domain_setup.checks. */
export interface DnsSnapshot {
  checks: RecordChecks;
  seen: Record<string, SeenRecord>;
}

/** Time limit for all lookups of one check, ms. */
const MAX_LOOKUP_MS = 18_000;

/** Special-use names for tests in local mode. RFC 6761. */
const SPECIAL_USE = /\.(?:test|example|invalid|localhost)$/;

/** Checks the DNS of a domain and records the result; the command decides what it means. */
export async function checkDomain(
  context: DomainCheckContext,
  domain: Pick<DomainInfo, 'id' | 'name'>,
): Promise<CheckOutcome & { verdict: DomainVerdict; keysByName: boolean; seen: DnsSnapshot['seen'] }> {
  const keys = await context.store.read(publishedKeys, { domain: domain.id });
  const sts = await context.store.read(ownStsPolicy, { domain: domain.id });
  const { snapshot, selectors } = await snapshotDns(context, { ...domain, keys, sts });
  const verdict = domainVerdict(snapshot.checks);
  const checks = JSON.stringify(snapshot);
  const outcome = await context.write(recordCheck, { id: domain.id, verdict, checks, seen: selectors });
  // The relay caches opened keys for a minute, an empty list too: new mail must be signed now.
  if (outcome.changed) context.keys.evict(domain.name);
  return { ...outcome, verdict, keysByName: leadsToOurKeys(snapshot), seen: snapshot.seen };
}

/** True if the names of all selectors are CNAMEs to keys of this box, so that new keys need no action of the owner. */
function leadsToOurKeys({ seen }: DnsSnapshot): boolean {
  const names = Object.entries(seen).filter(([key]) => key.startsWith('CNAME ') && key.includes('._domainkey.'));
  return names.length > 0 && names.every(([, { status }]) => status === 'ok');
}

/** Looks up all records without recording anything. */
export async function snapshotDns(
  context: Pick<DomainCheckContext, 'settings' | 'lookNow'>,
  domain: Parameters<typeof examineDomain>[1],
): Promise<{ snapshot: DnsSnapshot; selectors: string[] }> {
  const { settings, lookNow } = context;
  const box = { ...sendingServer(settings), ...recordServer(settings) };
  if (!settings.live && SPECIAL_USE.test(domain.name)) {
    const pass = { status: 'pass' as const, detail: 'not checked in local mode' };
    const seen = requiredRecords(domain, box).map((record): [string, SeenRecord] => [
      recordKey(record),
      { status: 'ok', observed: [] },
    ]);
    return {
      snapshot: {
        checks: { sendingIdentity: pass, dkim: pass, inboundMx: pass, spf: pass, dmarc: pass },
        seen: Object.fromEntries(seen),
      },
      selectors: domain.keys.map((key) => key.selector),
    };
  }
  const { checks, seen, selectors } = await examineDomain(within(lookNow, MAX_LOOKUP_MS), domain, box);
  return { snapshot: { checks, seen }, selectors };
}

export interface NameServers {
  /** Undefined: DNS timeout. */
  delegation: Delegation | undefined;
  observed: string[];
}

/**
 * Reads the name servers of a domain from its parent zone, which decides: a resolver may get its answer from this box itself,
 * and before this box serves the domain it gets none.
 */
export async function nameServersOf(
  { settings, lookNow, parents }: Pick<DomainCheckContext, 'settings' | 'lookNow' | 'parents'>,
  { id, name, managed }: Pick<DomainInfo, 'id' | 'name'> & { managed: boolean },
): Promise<NameServers> {
  const { hostname, ports } = settings;
  // A zone that contains the box's own name is not served: this server does not have all its records, not even its own address.
  const holdsBox = hostname === name || hostname.endsWith(`.${name}`);
  if (ports.dns === undefined || holdsBox) return { delegation: 'none', observed: [] };
  const seen = namesOf(await within(lookNow, MAX_LOOKUP_MS).ns(name));
  if (seen !== undefined && !managed && !namesBox(seen, hostname)) return { delegation: 'none', observed: shown(seen) };
  const names = (await parents(name)) ?? seen;
  // Only the parent zone can report that all name servers are gone.
  if (names === undefined || (managed && names === seen && seen.length === 0)) {
    return { delegation: undefined, observed: [] };
  }
  return { delegation: delegationBy(names, id, hostname), observed: shown(names) };
}

const shown = (names: readonly string[]): string[] => names.slice(0, 10);

function namesOf(found: Lookup<string>): readonly string[] | undefined {
  if (found.kind === 'trouble') return undefined;
  return found.kind === 'found' ? found.records : [];
}

/** Starts or stops serving a domain by its name servers; returns if it is served. */
export async function updateManaged(
  context: Pick<DomainCheckContext, 'store' | 'settings' | 'lookNow' | 'parents' | 'write'>,
  domain: Pick<DomainInfo, 'id' | 'name'>,
): Promise<NameServers & { managed: boolean }> {
  const before = (await context.store.read(domainSetup, { domain: domain.id }))?.delegation ?? 'none';
  const managed = before !== 'none';
  const { delegation, observed } = await nameServersOf(context, { ...domain, managed });
  if (delegation === undefined || delegation === before) return { managed, delegation, observed };
  const { kind } = await context.write(setManaged, { id: domain.id, delegation });
  return { managed: kind === 'managed', delegation, observed };
}

/**
 * Delegation of a domain to its claim `id` by these name servers. The box's own name does not count beside the name of another
 * claim: that one was set on purpose.
 */
export function delegationBy(names: readonly string[], id: number, hostname: string): Delegation {
  const box = names.includes(hostname);
  if (names.includes(ownServer(id, hostname))) return box ? 'both' : 'own';
  return box && !names.some((one) => one.endsWith(`.ns.${keyZone(hostname)}`)) ? 'box' : 'none';
}

/** Tests if any of these name servers is this box. */
export function namesBox(names: readonly string[], hostname: string): boolean {
  return names.some((one) => one === hostname || one.endsWith(`.ns.${keyZone(hostname)}`));
}

/** Names under which the box serves a claim, so that a zone and its parent agree. RFC 1034 4.2.2. */
export function serverNames(delegation: Delegation, id: number, hostname: string): string[] {
  const names = { none: [], box: [hostname], own: [ownServer(id, hostname)] };
  return delegation === 'both' ? [...names.own, ...names.box] : names[delegation];
}
