import type { Read } from '../engine/types.ts';

/** Tests if an address belongs to a deleted account of a tenant that can be restored. */
export async function isDeletedAddress(rx: Read, tenant: number, key: string): Promise<boolean> {
  const row = await rx.get('SELECT 1 AS there FROM deleted_address WHERE key = ? AND tenant = ? LIMIT 1', key, tenant);
  return row !== undefined;
}
