import type { Settings } from '../../config/settings.ts';
import { reverseNames } from '../../mail/auth/reverse-name.ts';
import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import { type Checked, fail, pass, unknown, worstOf } from './checked.ts';

/** Where mail of this box comes from, as its receivers see it. */
export interface Origin {
  /** Our name in EHLO. */
  name: string;
  addresses: readonly string[];
  /** The settings say them; otherwise they are those of the public name. */
  given: boolean;
  /** Why no address is known for sure. */
  missing?: Checked;
}

/** Of one family: a name with more has another use for them. */
const MOST_ADDRESSES = 2;

export async function originOf(settings: Settings, resolver: Resolver): Promise<Origin> {
  const { hostname, outboundHostname, outboundAddresses: set } = settings;
  const name = outboundHostname ?? hostname;
  if (set !== undefined) {
    return { name, addresses: [set.ipv4, set.ipv6].filter((ip) => ip !== undefined), given: true };
  }
  const found = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)]);
  const addresses = found.flatMap((one) => recordsOf(one).slice(0, MOST_ADDRESSES));
  if (addresses.length > 0) return { name, addresses, given: false };
  const trouble = found.some((one) => one.kind === 'trouble');
  const missing = trouble
    ? unknown(`the DNS did not say which addresses ${hostname} has`)
    : fail(`${hostname} has no address`, `Publish the address of this server as the A record of ${hostname}.`);
  return { name, addresses, given: false, missing };
}

/** Whether each address is called as this server calls itself, and the name leads back. RFC 8601 2.7.3. */
export async function reverseCheck({ name, addresses, missing }: Origin, resolver: Resolver): Promise<Checked> {
  if (missing !== undefined) return missing;
  return worstOf(await Promise.all(addresses.map((ip) => reverseOf(ip, name, resolver))));
}

async function reverseOf(ip: string, name: string, resolver: Resolver): Promise<Checked> {
  const fix = `Have whoever gives this server ${ip} set its reverse name (PTR) to ${name}, and let ${name} lead to ${ip}.`;
  const found = await reverseNames(ip, resolver);
  if (found.kind === 'trouble') return unknown(`the DNS did not say how ${ip} is called`);
  if (found.kind === 'none') return fail(`${ip} has no reverse name`, fix);
  if (found.validated.includes(name)) return pass(`${ip} is called ${name}, which leads back to it`);
  if (found.unsure) return unknown(`the DNS did not say whether the reverse name of ${ip} leads back to it`);
  const [other] = found.validated;
  if (other === undefined) return fail(`the reverse name of ${ip} does not lead back to it`, fix);
  return fail(`${ip} is called ${other}, and this server says ${name}`, fix);
}

function recordsOf(found: Lookup<string>): readonly string[] {
  return found.kind === 'found' ? found.records : [];
}
