import type { Settings } from '../../config/settings.ts';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import type { DomainInfo } from '../../mail/store/domain.ts';
import type { Command, Store } from '../../mail/store/engine/types.ts';
import { domainSetup } from '../accounts/setup.ts';
import { type Checks, examine, recordKey, verdictOf, within } from './check.ts';
import { type CheckOutcome, recordCheck, setManaged, type Verdict } from './commands.ts';
import { delegationBy, namesBox } from './delegation.ts';
import type { SigningKeys } from './domains.ts';
import type { AskParents } from './parents.ts';
import { type Delegation, publishedKeys } from './queries.ts';
import { type SeenRecord, wantedRecords } from './records.ts';

export interface LookContext {
  store: Store;
  settings: Settings;
  /** Remembers nothing: people look just after they have changed something. */
  lookNow: Resolver;
  parents: AskParents;
  keys: SigningKeys;
  /** How what was found is written: with an audit row, where somebody asked for it. */
  write<I, O>(what: Command<I, O>, input: I): Promise<O>;
}

/** What is kept of the last look, as JSON in domain_setup.checks. */
export interface Looked {
  checks: Checks;
  seen: Record<string, SeenRecord>;
}

/** Of one look with all its questions, ms. */
const LONGEST_LOOK_MS = 18_000;

/** Names that nobody can own; local mode tries things with them. RFC 6761. */
const SPECIAL_USE = /\.(?:test|example|invalid|localhost)$/;

/** Looks at the DNS of a domain and keeps what was seen; what a pass or a failure means is in the command. */
export async function lookAt(
  context: LookContext,
  domain: Pick<DomainInfo, 'id' | 'name'>,
): Promise<CheckOutcome & { verdict: Verdict }> {
  const keys = await context.store.read(publishedKeys, { domain: domain.id });
  const { looked, selectors } = await see(context, { ...domain, keys });
  const verdict = verdictOf(looked.checks);
  const checks = JSON.stringify(looked);
  const outcome = await context.write(recordCheck, { id: domain.id, verdict, checks, seen: selectors });
  // The relay keeps opened keys for a minute, and "none" as well: mail must flow now.
  if (outcome.changed) context.keys.forget(domain.name);
  return { ...outcome, verdict };
}

/** One look that keeps nothing. */
export async function see(
  context: Pick<LookContext, 'settings' | 'lookNow'>,
  domain: Parameters<typeof examine>[1],
): Promise<{ looked: Looked; selectors: string[] }> {
  const { settings, lookNow } = context;
  const box = { hostname: settings.hostname, byName: settings.ports.dns !== undefined };
  if (!settings.live && SPECIAL_USE.test(domain.name)) {
    const pass = { status: 'pass' as const, detail: 'not looked up in local mode' };
    const seen = wantedRecords(domain, box.hostname, box.byName).map((record): [string, SeenRecord] => [
      recordKey(record),
      { status: 'ok', observed: [] },
    ]);
    return {
      looked: {
        checks: { sendingIdentity: pass, dkim: pass, inboundMx: pass, spf: pass, dmarc: pass },
        seen: Object.fromEntries(seen),
      },
      selectors: domain.keys.map((key) => key.selector),
    };
  }
  const { checks, seen, selectors } = await examine(within(lookNow, LONGEST_LOOK_MS), domain, box);
  return { looked: { checks, seen }, selectors };
}

export interface NameServers {
  /** Undefined: the DNS did not answer. */
  delegation: Delegation | undefined;
  observed: string[];
}

/**
 * How the name servers of a domain stand to this box. The zone above has the last word: what a resolver says may come
 * from this box itself, and before it serves the domain a resolver says nothing at all.
 */
export async function nameServersOf(
  { settings, lookNow, parents }: Pick<LookContext, 'settings' | 'lookNow' | 'parents'>,
  { id, name, managed }: Pick<DomainInfo, 'id' | 'name'> & { managed: boolean },
): Promise<NameServers> {
  const { hostname, ports } = settings;
  // A zone that holds the box's own name is not served: this server does not know all that is in it, its own address least.
  const holdsBox = hostname === name || hostname.endsWith(`.${name}`);
  if (ports.dns === undefined || holdsBox) return { delegation: 'none', observed: [] };
  const seen = namesOf(await within(lookNow, LONGEST_LOOK_MS).ns(name));
  if (seen !== undefined && !managed && !namesBox(seen, hostname)) return { delegation: 'none', observed: shown(seen) };
  const names = (await parents(name)) ?? seen;
  // That there is nothing at all is believed of the zone above alone, where something was.
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

/** Reads the name servers of a domain and serves it from here, or stops to; answers whether it is served. */
export async function manage(
  context: Pick<LookContext, 'store' | 'settings' | 'lookNow' | 'parents' | 'write'>,
  domain: Pick<DomainInfo, 'id' | 'name'>,
): Promise<NameServers & { managed: boolean }> {
  const before = (await context.store.read(domainSetup, { domain: domain.id }))?.delegation ?? 'none';
  const managed = before !== 'none';
  const { delegation, observed } = await nameServersOf(context, { ...domain, managed });
  if (delegation === undefined || delegation === before) return { managed, delegation, observed };
  const { kind } = await context.write(setManaged, { id: domain.id, delegation });
  return { managed: kind === 'managed', delegation, observed };
}
