import type { Settings } from '../../config/settings.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { isPublicAddress } from '../../mail/dns/public-address.ts';
import type { Log } from '../../mail/log.ts';
import { addressLabels, type DnsList, listingOf } from '../../mail/policy/lists/dns-list.ts';
import { ADDRESS_STONES, hostStones, ListHealth, type Touchstones } from '../../mail/policy/lists/list-health.ts';
import { registrable } from '../../mail/policy/registrable.ts';
import { type Checked, fail, pass, unknown } from './checked.ts';

/** What one list says of one address or domain of ours. */
export interface Listed extends Checked {
  list: string;
  /** The address or domain. */
  about: string;
}

export interface ListContext {
  settings: Settings;
  resolver: Resolver;
  log: Log;
}

/** Asks the lists that the settings name, those that tell of the bad, about the addresses that mail leaves from and its domain. */
export async function listings(
  context: ListContext,
  { addresses, domain }: { addresses: readonly string[]; domain: string },
): Promise<Listed[]> {
  const { addresses: ofAddresses, hosts } = context.settings.dnsLists;
  const name = registrable(domain);
  const asked = [
    ...ofAddresses.filter(isOfBad).flatMap((list) =>
      addresses.map((about) => {
        const labels = isPublicAddress(about) ? addressLabels(about) : undefined;
        return { zone: list.zone, about, labels, stones: ADDRESS_STONES };
      }),
    ),
    ...hosts.filter(isOfBad).map(({ zone }) => ({ zone, about: name, labels: name, stones: hostStones(zone) })),
  ];
  return Promise.all(asked.map((one) => ask(context, one)));
}

/** All lists together; none asked, none known. */
export function listingsCheck(all: readonly Listed[]): Checked {
  const listed = all.find((one) => one.status === 'fail');
  if (listed !== undefined) return listed;
  return all.some((one) => one.status === 'pass') ? pass('') : unknown('');
}

const isOfBad = ({ score, refuse }: DnsList): boolean => score > 0 || refuse;

async function ask(
  { resolver, log }: ListContext,
  { zone, about, labels, stones }: { zone: string; about: string; labels: string | undefined; stones: Touchstones },
): Promise<Listed> {
  const said = (checked: Checked): Listed => ({ list: zone, about, ...checked });
  if (labels === undefined) return said(unknown(`${about} is no public address`));
  const look = async (name: string) => listingOf(await resolver.a(`${name}.${zone}`));
  const monotonic = (): number => performance.now();
  const health = new ListHealth({
    zone,
    stones,
    ask: look,
    monotonic,
    log,
    refusal: 'refuses to answer this resolver',
  });
  // A list that has ended by listing the world says nothing of us.
  const [found, isGood] = await Promise.all([look(labels), health.isGood()]);
  if (!isGood) return said(unknown(`the list ${health.state.why}`));
  if (found.kind === 'clear') return said(pass('not listed'));
  if (found.kind !== 'listed') return said(unknown('the list did not answer'));
  const fix = `Look up at the list ${zone} why it has ${about}, mend that, and ask it there to take ${about} off.`;
  return said(fail('listed', fix));
}
