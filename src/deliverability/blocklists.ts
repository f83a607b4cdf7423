import type { Settings } from '../../config/settings.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { isPublicAddress } from '../../mail/dns/public-address.ts';
import type { Log } from '../../mail/log.ts';
import { addressLabels, type DnsList, interpretListing } from '../../mail/policy/lists/dns-list.ts';
import {
  ADDRESS_TEST_ENTRIES,
  hostTestEntries,
  ListHealth,
  type TestEntries,
} from '../../mail/policy/lists/list-health.ts';
import { registrableDomain } from '../../mail/policy/registrable.ts';
import { type DeliverabilityCheck, fail, pass, unknown } from './checked.ts';
import { listName, removalPage } from './removal-pages.ts';

/** Result of one DNS list for one of our addresses or domains. */
export interface BlocklistCheck extends DeliverabilityCheck {
  list: string;
  /** The address or domain. */
  about: string;
  /** The list refuses queries from the resolver of this server. */
  refused?: true;
}

export interface BlocklistContext {
  settings: Settings;
  resolver: Resolver;
  log: Log;
}

/** Queries the configured block lists for the addresses that mail leaves from, and for its domain. */
export async function checkBlocklists(
  context: BlocklistContext,
  { addresses, domain }: { addresses: readonly string[]; domain: string },
): Promise<BlocklistCheck[]> {
  const { addresses: ofAddresses, hosts } = context.settings.dnsLists;
  const name = registrableDomain(domain);
  const queries = [
    ...ofAddresses.filter(isOfBad).flatMap((list) =>
      addresses.map((about) => {
        const labels = isPublicAddress(about) ? addressLabels(about) : undefined;
        return { zone: list.zone, about, labels, testEntries: ADDRESS_TEST_ENTRIES };
      }),
    ),
    ...hosts
      .filter(isOfBad)
      .map(({ zone }) => ({ zone, about: name, labels: name, testEntries: hostTestEntries(zone) })),
  ];
  return Promise.all(queries.map((one) => queryList(context, one)));
}

/** Summary of all lists; unknown if none answered. */
export function blocklistSummary(all: readonly BlocklistCheck[]): DeliverabilityCheck {
  const listed = all.find((one) => one.status === 'fail');
  if (listed !== undefined) return listed;
  return all.some((one) => one.status === 'pass') ? pass('') : unknown('');
}

const isOfBad = ({ score, refuse }: DnsList): boolean => score > 0 || refuse;

async function queryList(
  { resolver, log }: BlocklistContext,
  {
    zone,
    about,
    labels,
    testEntries,
  }: { zone: string; about: string; labels: string | undefined; testEntries: TestEntries },
): Promise<BlocklistCheck> {
  const list = listName(zone);
  const result = (checked: DeliverabilityCheck): BlocklistCheck => ({ list, about, ...checked });
  if (labels === undefined) return result(unknown(`${about} is no public address`));
  const lookUp = async (name: string) => interpretListing(await resolver.a(`${name}.${zone}`));
  const monotonic = (): number => performance.now();
  const health = new ListHealth({
    zone,
    testEntries,
    ask: lookUp,
    monotonic,
    log,
    refusal: REFUSAL,
  });
  // Ignores a list that ended by listing every address.
  const [found, isGood] = await Promise.all([lookUp(labels), health.isUsable()]);
  // 127.255.255.0/24: the query was refused, which says nothing about the address.
  if (found.kind === 'refused' || (!isGood && health.state.why === REFUSAL))
    return { ...result(unknown(`the list ${REFUSAL}`)), refused: true };
  if (!isGood) return result(unknown(`the list ${health.state.why}`));
  if (found.kind === 'clear') return result(pass('not listed'));
  if (found.kind !== 'listed') return result(unknown('the list did not answer'));
  const page = removalPage(zone);
  const at = page === undefined ? '' : ` (${page})`;
  const fix = `Look up the reason at the list ${list}${at}, fix it, and request the removal of ${about} there.`;
  return result(fail('listed', fix));
}

const REFUSAL = 'refuses to answer this resolver';
