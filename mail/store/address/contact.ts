import { lookup } from '../engine/types.ts';

/** A contact of an account. */
export interface Contact extends Record<string, string | number | null> {
  /** Lookup key. */
  address: string;
  /** ms UTC. */
  since: number;
  /** Time of its last authenticated mail; null: none recorded. */
  heardAt: number | null;
  /** 1: the account wrote to it. */
  wrote: number;
}

/**
 * Contacts of an account by address: recipients it wrote to, and authenticated senders whose mail was kept more often
 * than classified as junk. Unauthenticated senders are never contacts. Scans all of them: run it in a reader thread.
 */
export const contactsOf = lookup(
  'contacts-of',
  (
    rx,
    input: { account: number; /** The address behind which it begins. */ after: string; part: string; limit: number },
  ): Promise<Contact[]> =>
    rx.all<Contact>(
      `SELECT address, min(since) AS since, max(at) AS heardAt, max(wrote) AS wrote FROM (
         SELECT key AS address, since, NULL AS at, 1 AS wrote FROM correspondent WHERE account_id = ?1 AND key > ?2
         UNION ALL
         SELECT substr(key, 3), since, at, 0 FROM sender
         WHERE account_id = ?1 AND key > 'a:' || ?2 AND key < 'b' AND seen + kept > junked)
       WHERE instr(address, ?3) > 0 GROUP BY address ORDER BY address LIMIT ?4`,
      input.account,
      input.after,
      input.part,
      input.limit,
    ),
);

/** One contact; undefined: none. */
export const contactOf = lookup(
  'contact-of',
  async (rx, { account, address }: { account: number; address: string }): Promise<Contact | undefined> => {
    const row = await rx.get<Contact>(
      `SELECT ?2 AS address, min(since) AS since, max(at) AS heardAt, max(wrote) AS wrote FROM (
         SELECT since, NULL AS at, 1 AS wrote FROM correspondent WHERE account_id = ?1 AND key = ?2
         UNION ALL
         SELECT since, at, 0 FROM sender WHERE account_id = ?1 AND key = 'a:' || ?2 AND seen + kept > junked)
       HAVING count(*) > 0`,
      account,
      address,
    );
    return row;
  },
);
