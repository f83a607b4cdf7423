import type { Read, Stamp, Write } from './engine/types.ts';

const DAY_MS = 24 * 3_600_000;

/** What a tenant may send. */
export interface Allowance {
  /** In any 24 hours. */
  messages: number;
  /** In any 10 seconds. */
  burst: number;
  /** Recipients that were never written to before, in any 24 hours. */
  newRecipients: number;
  /** Keys of the only recipients; null: anybody. */
  only: readonly string[] | null;
  /** A sentence for people: what ends the limit. */
  until: string;
}

export type OverAllowance = { kind: 'over'; /** A sentence for people. */ until: string } & (
  | { what: 'messages' | 'burst' | 'rate' | 'new-recipients'; most: number; /** ms */ wait: number }
  | { what: 'recipient'; recipient: string }
);

const BURST_MS = 10_000;

interface Asked {
  tenant: number;
  /** Null: no limit. */
  allowance: Allowance | null;
  /** Keys. */
  recipients: readonly string[];
}

/** What a message to these recipients would be too much of; nothing is counted. */
export async function overAllowance(
  rx: Read,
  { tenant, allowance, recipients }: Asked,
  now: number,
): Promise<OverAllowance | undefined> {
  if (allowance === null) return undefined;
  const { only, until } = allowance;
  const stranger = only === null ? undefined : recipients.find((key) => !only.includes(key));
  if (stranger !== undefined) return { kind: 'over', until, what: 'recipient', recipient: stranger };
  return (await overMessages(rx, tenant, allowance, now)) ?? (await overNew(rx, tenant, allowance, recipients, now));
}

/** How much of it is left in these 24 hours; null: no limit. */
export async function allowanceLeft(
  rx: Read,
  { tenant, allowance }: Pick<Asked, 'tenant' | 'allowance'>,
  now: number,
): Promise<{ messages: number; newRecipients: number } | null> {
  if (allowance === null) return null;
  const used = await rx.get<{ messages: number; met: number }>(
    `SELECT count(*) FILTER (WHERE subject = '') AS messages, count(*) FILTER (WHERE subject <> '') AS met
     FROM sending_count WHERE tenant = ? AND at > ?`,
    tenant,
    now - DAY_MS,
  );
  return {
    messages: allowance.messages - (used?.messages ?? 0),
    newRecipients: allowance.newRecipients - (used?.met ?? 0),
  };
}

/** Counts a message that was not too much. */
export async function countAllowance(
  tx: Write,
  { tenant, allowance, recipients }: Asked,
  { now }: Stamp,
): Promise<void> {
  if (allowance === null) return;
  await tx.run(`DELETE FROM sending_count WHERE tenant = ? AND subject = '' AND at <= ?`, tenant, now - DAY_MS);
  await tx.run(
    `INSERT INTO sending_count (tenant, subject, at, nth) SELECT ?1, '', ?2, coalesce(max(nth), -1) + 1
     FROM sending_count WHERE tenant = ?1 AND subject = '' AND at = ?2`,
    tenant,
    now,
  );
  for (const key of await unknown(tx, tenant, recipients)) {
    await tx.run('INSERT INTO sending_count (tenant, subject, at, nth) VALUES (?, ?, ?, 0)', tenant, key, now);
  }
}

async function overMessages(
  rx: Read,
  tenant: number,
  { messages, burst, until }: Allowance,
  now: number,
): Promise<OverAllowance | undefined> {
  for (const [what, most, window] of [
    ['burst', burst, BURST_MS],
    ['messages', messages, DAY_MS],
  ] as const) {
    const oldest = await nthNewest(rx, tenant, most, now - window);
    if (oldest !== undefined) return { kind: 'over', until, what, most, wait: oldest + window - now };
  }
  return undefined;
}

/** When the `most`th newest message was, if it lies in the window; that is when there is no room for another. */
async function nthNewest(rx: Read, tenant: number, most: number, after: number): Promise<number | undefined> {
  const row = await rx.get<{ at: number }>(
    `SELECT at FROM sending_count WHERE tenant = ? AND subject = '' AND at > ? ORDER BY at DESC, nth DESC LIMIT 1 OFFSET ?`,
    tenant,
    after,
    most - 1,
  );
  return row?.at;
}

async function overNew(
  rx: Read,
  tenant: number,
  { newRecipients, until }: Allowance,
  recipients: readonly string[],
  now: number,
): Promise<OverAllowance | undefined> {
  const fresh = await unknown(rx, tenant, recipients);
  if (fresh.length === 0) return undefined;
  const rows = await rx.all<{ at: number }>(
    `SELECT at FROM sending_count WHERE tenant = ? AND subject <> '' AND at > ? ORDER BY at LIMIT 1000`,
    tenant,
    now - DAY_MS,
  );
  if (rows.length + fresh.length <= newRecipients) return undefined;
  const wait = (rows[0]?.at ?? now) + DAY_MS - now;
  return { kind: 'over', until, what: 'new-recipients', most: newRecipients, wait };
}

async function unknown(rx: Read, tenant: number, recipients: readonly string[]): Promise<string[]> {
  const fresh: string[] = [];
  for (const key of new Set(recipients)) {
    const known = 'SELECT 1 AS there FROM sending_count WHERE tenant = ? AND subject = ? LIMIT 1';
    if ((await rx.get(known, tenant, key)) === undefined) fresh.push(key);
  }
  return fresh;
}
