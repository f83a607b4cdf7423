import { isWithin } from '../../mail/dns/name.ts';
import type { Log } from '../../mail/log.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { listDomains } from '../../mail/store/address/domain.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { TxtPublisher } from '../acme/challenge-answers.ts';
import { dnsConnections } from './commands.ts';
import type { DomainPublisher } from './publisher.ts';

export interface ChallengePublisherContext {
  store: Store;
  publisher: DomainPublisher;
  /** TXT records of a name at every name server of its zone; undefined: one of them did not answer. */
  textsAtServers: (zone: string, name: string) => Promise<readonly (readonly string[])[] | undefined>;
  sleep: (ms: number) => Promise<void>;
  log: Log;
}

/** Looks for a new record at the name servers. Providers need up to two minutes. */
const MAX_LOOKS = 24;
const LOOK_MS = 5_000;
const TTL = 300;

/** Organization whose certificate has a name: that of the longest domain with it; the operator for names of this server. */
async function organizationOf(store: Store, name: string): Promise<number> {
  const all = (await store.read(listDomains, undefined)).filter((one) => one.verified && isWithin(name, one.name));
  return all.toSorted((a, b) => b.name.length - a.name.length)[0]?.tenant ?? OPERATOR;
}

/**
 * Publishes TXT records of DNS-01 at the DNS providers of connected domains, for names in these domains only. An alias of one
 * organization (RFC 8555 8.4) never leads into the zone of another, whose credentials are not for it.
 */
export function providerPublisher(context: ChallengePublisherContext): TxtPublisher {
  const { store, publisher } = context;
  /** The longest connected domain that a name is in. */
  const domainOf = async (name: string) => {
    const all = (await store.read(dnsConnections, undefined)).filter((one) => {
      return one.verified && one.publishedAt !== null && isWithin(name, one.name);
    });
    return all.toSorted((a, b) => b.name.length - a.name.length)[0];
  };
  const change = async (name: string, value: string, what: 'add' | 'remove'): Promise<string | undefined> => {
    const domain = await domainOf(name);
    if (domain === undefined) return undefined;
    return publisher.exclusively(domain.id, async () => {
      const client = await publisher.open(domain);
      if (client === undefined) return undefined;
      const same = (await client.list([name])).filter((one) => one.type === 'TXT' && one.name === name);
      const there = same.filter((one) => one.value === value);
      const head = { type: 'TXT' as const, name };
      if (what === 'add' && there.length === 0) {
        await client.change({ ...head, remove: [], keep: same, add: [{ ...head, value, ttl: TTL }] });
      } else if (what === 'remove' && there.length > 0) {
        await client.change({ ...head, remove: there, keep: same.filter((one) => !there.includes(one)), add: [] });
      }
      return client.zone;
    });
  };
  return {
    async serves(name, certified) {
      const domain = await domainOf(name);
      return domain !== undefined && domain.tenant === (await organizationOf(store, certified));
    },
    async publishTxt(name, value) {
      const zone = await change(name, value, 'add');
      if (zone === undefined) throw new Error(`${name} is not in a domain with a DNS provider`);
      await untilServed(context, zone, name, value);
    },
    async removeTxt(name, value) {
      await change(name, value, 'remove');
    },
  };
}

/** Waits until every name server has the record; goes on after the longest time, as the authority may see it anyway. */
async function untilServed(
  { textsAtServers, sleep, log }: ChallengePublisherContext,
  zone: string,
  name: string,
  value: string,
): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const found = await textsAtServers(zone, name);
    if (found?.every((texts) => texts.includes(value)) === true) return;
    await sleep(LOOK_MS);
  }
  log.warn({ name, zone }, 'record of a challenge is not at all name servers yet');
}
