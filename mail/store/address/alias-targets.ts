import { addressKey, parseAddress, withoutDetail } from '../../message/address.ts';
import { query, type Read } from '../engine/types.ts';

/**
 * Accounts of a tenant that receive mail for an address: as mailbox, by alias or by any matching wildcard, regardless
 * of precedence and also on an unverified domain; and those whose mail is forwarded to it, since rules about the
 * address affect their mail. `key` is a lookup key without +detail. Scans all forwards: run it in a reader thread.
 */
export const aliasTargets = query(
  'alias-targets',
  async (rx, input: { tenant: number; key: string }): Promise<number[]> => {
    const keys = await forwardedTo(rx, input);
    const named = keys.map((key) => {
      const at = key.lastIndexOf('@');
      return { key, local: key.slice(0, at), domain: key.slice(at + 1) };
    });
    const rows = await rx.all<{ account: number }>(
      `WITH named (key, local, domain) AS (
       SELECT value ->> 'key', value ->> 'local', value ->> 'domain' FROM json_each(?2, '$'))
     SELECT o.account_id AS account FROM named n JOIN address o ON o.key = n.key JOIN account a ON a.id = o.account_id
       WHERE a.tenant = ?1
     UNION
     SELECT t.account_id FROM named n JOIN alias l ON l.tenant = ?1 AND l.key = n.key
       JOIN alias_account t ON t.alias_id = l.id
     UNION
     SELECT t.account_id FROM named n JOIN domain d ON d.name = n.domain
       JOIN alias l ON l.domain_id = d.id AND l.tenant = ?1 AND l.wildcard = 1 JOIN alias_account t ON t.alias_id = l.id
       WHERE length(n.local) >= length(l.head) + length(l.tail)
         AND substr(n.local, 1, length(l.head)) = l.head AND (l.tail = '' OR substr(n.local, -length(l.tail)) = l.tail)
     ORDER BY 1`,
      input.tenant,
      JSON.stringify(named),
    );
    return rows.map(({ account }) => account);
  },
);

/** The address and all sources that forward to it, directly or through other forwards. */
async function forwardedTo(rx: Read, { tenant, key }: { tenant: number; key: string }): Promise<string[]> {
  const forwards = await rx.all<{ source: string; destination: string }>(
    'SELECT source_key AS source, destination_key AS destination FROM forwarder WHERE organization_id = ?',
    tenant,
  );
  const into = Map.groupBy(forwards, ({ destination }) => plain(destination));
  const found = new Set([key]);
  // The set grows while it is iterated.
  for (const one of found) for (const { source } of into.get(one) ?? []) found.add(source);
  return [...found];
}

function plain(key: string): string {
  const address = parseAddress(key);
  const whole = address && withoutDetail(address);
  return whole === undefined ? key : addressKey(whole);
}
