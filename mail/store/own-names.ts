import { addressKey, parseAddress, withoutDetail } from '../message/address.ts';
import type { Read } from './engine/types.ts';

/** Which of these addresses are mailboxes of a tenant, with or without a `+detail`, on domains that are proved to be its. */
export async function ownNames(rx: Read, tenant: number, keys: readonly string[]): Promise<Set<string>> {
  return named(keys, (forms) =>
    rx.all<{ key: string }>(
      `SELECT DISTINCT o.key FROM json_each(?1) k CROSS JOIN address o ON o.key = k.value
     JOIN account a ON a.id = o.account_id JOIN domain d ON d.id = o.domain_id
     WHERE a.tenant = ?2 AND a.state <> 2 AND d.state = 1 AND d.tenant = ?2`,
      forms,
      tenant,
    ),
  );
}

/** Which of these addresses are those of one mailbox: its own and its aliases, with or without a `+detail`. */
export async function mailboxNames(rx: Read, account: number, keys: readonly string[]): Promise<Set<string>> {
  return named(keys, (forms) =>
    rx.all<{ key: string }>(
      'SELECT o.key FROM json_each(?1) k CROSS JOIN own_address o ON o.key = k.value WHERE o.account_id = ?2',
      forms,
      account,
    ),
  );
}

/** Those of which a form is found; `find` gets all forms as JSON. */
async function named(
  keys: readonly string[],
  find: (forms: string) => Promise<{ key: string }[]>,
): Promise<Set<string>> {
  const forms = new Map(keys.filter((key) => key !== '').map((key) => [key, formsOf(key)]));
  if (forms.size === 0) return new Set();
  const rows = await find(JSON.stringify([...new Set([...forms.values()].flat())]));
  const found = new Set(rows.map(({ key }) => key));
  return new Set([...forms].filter(([, some]) => some.some((form) => found.has(form))).map(([key]) => key));
}

function formsOf(key: string): string[] {
  const address = parseAddress(key);
  const plain = address && withoutDetail(address);
  return plain === undefined ? [key] : [key, addressKey(plain)];
}
