import type { Write } from '../engine/types.ts';

/** Sender for fair scheduling: the account, or minus the tenant without one; 0 only for the server. */
export function ownerOf(message: { account: number | null; tenant: number }): number {
  return message.account ?? -message.tenant;
}

/** The lane of a sender to a destination, created on demand. It is deleted with its last row. */
export async function laneOf(
  tx: Write,
  message: { account: number | null; tenant: number },
  domain: string,
): Promise<number> {
  const owner = ownerOf(message);
  const found = await tx.get<{ id: number }>('SELECT id FROM queue_lane WHERE owner = ? AND domain = ?', owner, domain);
  if (found !== undefined) return found.id;
  const made = await tx.run(
    'INSERT INTO queue_lane (owner, tenant, domain) VALUES (?, ?, ?)',
    owner,
    message.tenant,
    domain,
  );
  return made.id;
}
