import type { Write } from './engine/types.ts';

/** Whose turn a message takes: its account's, or its tenant's where no account sent it. Never 0 but for the box itself. */
export function ownerOf(message: { account: number | null; tenant: number }): number {
  return message.account ?? -message.tenant;
}

/** The lane of a sender to a destination; made when it is not there. It goes with its last row. */
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
