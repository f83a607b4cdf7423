import { type Address, formatAddress } from '../message/address.ts';
import { ownsAddress } from '../store/account.ts';
import { domainsOf } from '../store/domain.ts';
import { query, type Read } from '../store/engine/types.ts';
import { lookupKeys } from './route.ts';

/** In whose name somebody may write. */
export type Identity =
  /** A mailbox: its own addresses. */
  | { kind: 'account'; account: number }
  /** A program: any address of the tenant's proved domains, or of some of them (A-labels). */
  | { kind: 'tenant'; tenant: number; domains: readonly string[] | null };

/** An author in whose name nobody with this identity may write. */
export interface ForeignAuthor {
  kind: 'foreign';
  address: string;
  domain: string;
  /**
   * `foreign`: not one of its addresses; `not-onboarded`: not a domain of its tenant; `not-allowed`: of its tenant, and
   * not for it; `unverified`: not proved; `paused`: proved, and its DNS is wrong now.
   */
  why: 'foreign' | 'not-onboarded' | 'not-allowed' | 'unverified' | 'paused';
}

/** The first author who is somebody else. */
export async function foreignAuthor(
  rx: Read,
  as: Identity,
  authors: readonly Address[],
): Promise<ForeignAuthor | undefined> {
  for (const author of authors) {
    const why = as.kind === 'account' ? await notOf(rx, as.account, author) : await notFrom(rx, as, author);
    if (why !== undefined) return { kind: 'foreign', address: formatAddress(author), domain: author.domain, why };
  }
  return undefined;
}

/** {@link foreignAuthor} before anything is made ready; the gate asks again. */
export const findForeignAuthor = query(
  'find-foreign-author',
  (rx, { as, authors }: { as: Identity; authors: readonly Address[] }) => foreignAuthor(rx, as, authors),
);

/** The first of these domains that is not the tenant's to write from now. */
export async function foreignDomain(
  rx: Read,
  tenant: number,
  domains: readonly string[],
): Promise<{ domain: string } | undefined> {
  const own = await domainsOf.run(rx, { tenant });
  const mine = new Set(own.filter((one) => one.verified && one.pausedAt === null).map((one) => one.name));
  const foreign = domains.find((domain) => domain !== '' && !mine.has(domain));
  return foreign === undefined ? undefined : { domain: foreign };
}

async function notOf(rx: Read, account: number, author: Address): Promise<ForeignAuthor['why'] | undefined> {
  const whose = await ownsAddress.run(rx, { account, keys: lookupKeys(author) });
  return whose === 'own' ? undefined : whose;
}

async function notFrom(
  rx: Read,
  { tenant, domains }: Identity & { kind: 'tenant' },
  { domain }: Address,
): Promise<ForeignAuthor['why'] | undefined> {
  const own = (await domainsOf.run(rx, { tenant })).find((one) => one.name === domain);
  if (own === undefined) return 'not-onboarded';
  if (domains?.includes(domain) === false) return 'not-allowed';
  if (!own.verified) return 'unverified';
  return own.pausedAt === null ? undefined : 'paused';
}
