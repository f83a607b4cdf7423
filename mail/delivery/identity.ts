import { type Address, formatAddress, lookupKeys } from '../message/address.ts';
import { ownsAddress } from '../store/account/account.ts';
import { domainsOf } from '../store/address/domain.ts';
import { query, type Read } from '../store/engine/types.ts';

/** Authors that a sender may use. */
export type Identity =
  /** A mailbox: its own addresses. */
  | { kind: 'account'; account: number }
  /** A program: any address of the tenant's verified domains, or of some of them (A-labels). */
  | { kind: 'tenant'; tenant: number; domains: readonly string[] | null };

/** An author that this identity may not use. */
export interface ForeignAuthor {
  kind: 'foreign';
  address: string;
  domain: string;
  /**
   * `foreign`: not one of its addresses; `not-onboarded`: not a domain of its tenant; `not-allowed`: of its tenant, but
   * not of this identity; `unverified`: not verified; `paused`: verified, but its DNS records are wrong now.
   */
  why: 'foreign' | 'not-onboarded' | 'not-allowed' | 'unverified' | 'paused';
}

/** Finds the first author that this identity may not use. */
export async function findForeignAuthor(
  rx: Read,
  as: Identity,
  authors: readonly Address[],
): Promise<ForeignAuthor | undefined> {
  for (const author of authors) {
    const why =
      as.kind === 'account' ? await foreignToAccount(rx, as.account, author) : await foreignToTenant(rx, as, author);
    if (why !== undefined) return { kind: 'foreign', address: formatAddress(author), domain: author.domain, why };
  }
  return undefined;
}

/** {@link findForeignAuthor} as an early check; the commit checks again. */
export const foreignAuthorQuery = query(
  'find-foreign-author',
  (rx, { as, authors }: { as: Identity; authors: readonly Address[] }) => findForeignAuthor(rx, as, authors),
);

/** Finds the first of these domains that the tenant may not send from now. */
export async function findForeignDomain(
  rx: Read,
  tenant: number,
  domains: readonly string[],
): Promise<{ domain: string } | undefined> {
  const own = await domainsOf.run(rx, { tenant });
  const mine = new Set(own.filter((one) => one.verified && one.pausedAt === null).map((one) => one.name));
  const foreign = domains.find((domain) => domain !== '' && !mine.has(domain));
  return foreign === undefined ? undefined : { domain: foreign };
}

async function foreignToAccount(rx: Read, account: number, author: Address): Promise<ForeignAuthor['why'] | undefined> {
  const whose = await ownsAddress.run(rx, { account, keys: lookupKeys(author) });
  return whose === 'own' ? undefined : whose;
}

async function foreignToTenant(
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
