import { addressKey, parseAddress, withoutDetail } from '../../message/address.ts';
import type { Read } from '../engine/types.ts';

/** Those of the addresses that are mailboxes of a tenant on its verified domains, with or without +detail. */
export async function ownNames(rx: Read, tenant: number, keys: readonly string[]): Promise<Set<string>> {
  return named(keys, (forms) =>
    rx.all<{ key: string }>(
      `SELECT DISTINCT o.key FROM json_each(?1, '$') k CROSS JOIN address o ON o.key = k.value
     JOIN account a ON a.id = o.account_id JOIN domain d ON d.id = o.domain_id
     WHERE a.tenant = ?2 AND a.state < 2 AND d.state = 1 AND d.tenant = ?2`,
      forms,
      tenant,
    ),
  );
}

/** Those of the addresses that belong to one mailbox: its own and its aliases, with or without +detail. */
export async function mailboxNames(rx: Read, account: number, keys: readonly string[]): Promise<Set<string>> {
  return named(keys, (forms) =>
    rx.all<{ key: string }>(
      `SELECT o.key FROM json_each(?1, '$') k CROSS JOIN own_address o ON o.key = k.value WHERE o.account_id = ?2`,
      forms,
      account,
    ),
  );
}

/** Those of the addresses whose domain is verified here, for whatever tenant: this server signs their mail. */
export async function addressesHostedHere(rx: Read, keys: readonly string[]): Promise<Set<string>> {
  const byDomain = Map.groupBy(keys, (key) => parseAddress(key)?.domain ?? '');
  const rows = await rx.all<{ name: string }>(
    `SELECT d.name FROM json_each(?, '$') k CROSS JOIN domain d ON d.name = k.value AND d.state = 1`,
    JSON.stringify([...byDomain.keys()]),
  );
  return new Set(rows.flatMap(({ name }) => byDomain.get(name) ?? []));
}

/** Those of which one form is found. `find` gets all forms as JSON. */
async function named(
  keys: readonly string[],
  find: (forms: string) => Promise<{ key: string }[]>,
): Promise<Set<string>> {
  /** Addresses by their forms. */
  const all = new Map<string, string[]>();
  for (const key of keys) {
    if (key === '') continue;
    for (const form of formsOf(key)) {
      const same = all.get(form);
      if (same === undefined) all.set(form, [key]);
      else same.push(key);
    }
  }
  if (all.size === 0) return new Set();
  const found = new Set<string>();
  for (const { key: form } of await find(JSON.stringify([...all.keys()]))) {
    for (const key of all.get(form) ?? []) found.add(key);
  }
  return found;
}

function formsOf(key: string): string[] {
  const address = parseAddress(key);
  const plain = address && withoutDetail(address);
  return plain === undefined ? [key] : [key, addressKey(plain)];
}
