import type { listAliases } from '../../operations/aliases/change.ts';
import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { KnownAddresses } from '../../mailboxes/address-csv.ts';
import { readOperation, type Visit } from '../visit.ts';
import type { MailboxRow } from './mailboxes.ts';

/** Pages of 100 that are read of each list. */
const MAX_PAGES = 100;

/** All addresses of an organization that the visitor may see. */
export interface AddressBook {
  readonly known: KnownAddresses;
  readonly mailboxes: readonly MailboxRow[];
  readonly aliases: readonly { address: string; note: string | null; mailboxIds: readonly string[] }[];
  /** Ids of mailboxes by address. */
  readonly ids: Map<string, string>;
}

/** Reads the domains, mailboxes and aliases, page by page. */
export async function addressBook(visit: Visit): Promise<AddressBook> {
  const [domains, mailboxes, aliases] = await Promise.all([
    allPages(async (page) => {
      const listed = await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', page);
      return { rows: listed?.domains ?? [], next: listed?.nextCursor };
    }),
    allPages(async (page) => {
      const listed = await readOperation<typeof listEmails>(visit, 'list_emails', page);
      return { rows: listed?.mailboxes ?? [], next: listed?.nextCursor };
    }),
    allPages(async (page) => {
      const listed = await readOperation<typeof listAliases>(visit, 'list_aliases', page);
      return { rows: listed?.aliases ?? [], next: listed?.nextCursor };
    }),
  ]);
  return {
    known: {
      domains: new Set(domains.map(({ domain }) => domain)),
      mailboxes: new Set(mailboxes.map(({ address }) => address.toLowerCase())),
      aliases: new Set(aliases.map(({ address }) => address.toLowerCase())),
    },
    mailboxes,
    aliases,
    ids: new Map(mailboxes.map(({ address, id }) => [address.toLowerCase(), id])),
  };
}

interface ListPage<T> {
  rows: readonly T[];
  next: string | null | undefined;
}

async function allPages<T>(read: (page: { limit: number; cursor?: string }) => Promise<ListPage<T>>): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { rows, next } = await read(cursor === undefined ? { limit: 100 } : { limit: 100, cursor });
    all.push(...rows);
    if (typeof next !== 'string') break;
    cursor = next;
  }
  return all;
}
