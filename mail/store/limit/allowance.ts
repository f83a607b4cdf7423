import type { Read, Stamp, Write } from '../engine/types.ts';

const DAY_MS = 24 * 3_600_000;

/** Sending limits of a tenant. */
export interface Allowance {
  /** Messages in any 24 hours. */
  messages: number;
  /** Messages in any 10 seconds. */
  burst: number;
  /** New recipients in any 24 hours. */
  newRecipients: number;
  /** Lookup keys of the allowed recipients; null: any. */
  only: readonly string[] | null;
  /** A sentence for people: when the limit ends. */
  until: string;
}

export type OverAllowance = { kind: 'over'; /** A sentence for people. */ until: string } & (
  | { what: 'messages' | 'burst' | 'rate' | 'new-recipients'; most: number; /** ms */ wait: number }
  | { what: 'recipient'; recipient: string }
);

const BURST_MS = 10_000;

interface AllowanceInput {
  tenant: number;
  /** Null: no limit. */
  allowance: Allowance | null;
  /** Keys. */
  recipients: readonly string[];
}

/** The limit that a message to these recipients exceeds, if any; nothing is counted. */
export async function overAllowance(
  rx: Read,
  { tenant, allowance, recipients }: AllowanceInput,
  now: number,
): Promise<OverAllowance | undefined> {
  if (allowance === null) return undefined;
  const { only, until } = allowance;
  const stranger = only === null ? undefined : recipients.find((key) => !only.includes(key));
  if (stranger !== undefined) return { kind: 'over', until, what: 'recipient', recipient: stranger };
  return (await overMessages(rx, tenant, allowance, now)) ?? (await overNew(rx, tenant, allowance, recipients, now));
}

/** Remaining allowance of the last 24 hours; null: no limit. */
export async function allowanceLeft(
  rx: Read,
  { tenant, allowance }: Pick<AllowanceInput, 'tenant' | 'allowance'>,
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

/** Counts an accepted message. */
export async function countAllowance(
  tx: Write,
  { tenant, allowance, recipients }: AllowanceInput,
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
  for (const key of await findUncontacted(tx, tenant, recipients)) {
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

/** Time of the `most`th newest message within the window; capacity returns when it leaves the window. */
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
  const fresh = await findUncontacted(rx, tenant, recipients);
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

async function findUncontacted(rx: Read, tenant: number, recipients: readonly string[]): Promise<string[]> {
  const fresh: string[] = [];
  for (const key of new Set(recipients)) {
    const known = 'SELECT 1 AS there FROM sending_count WHERE tenant = ? AND subject = ? LIMIT 1';
    if ((await rx.get(known, tenant, key)) === undefined) fresh.push(key);
  }
  return fresh;
}
