import type { OverAllowance } from './allowance.ts';
import { command, query, type Read, type Stamp, type Write } from '../engine/types.ts';

/** Sending limits of a subject; undefined members are no limit. */
export interface Budget {
  /** Counted subject: `account/12`, `tenant/3`, the public id of a key. */
  subject: string;
  /** A sentence for people: whose limit it is, and what to do. */
  explanation: string;
  /** Messages per second, and the burst. */
  rate?: { perSecond: number; burst: number };
  /** Messages in any 24 hours, one for each recipient. */
  daily?: number;
  /** New recipients of the account in any 24 hours. */
  newRecipients?: { account: number; most: number };
  /** The subject is paused on anomalies. */
  watched?: boolean;
}

const DAY_MS = 24 * 3_600_000;
const INTERVAL_MS = 10 * 60_000;

/** The first budget that a message to these recipients exceeds; nothing is counted. */
export async function overBudget(
  rx: Read,
  budgets: readonly Budget[],
  recipients: readonly string[],
  now: number,
): Promise<OverAllowance | undefined> {
  for (const budget of budgets) {
    const over = (await overRate(rx, budget, now)) ?? (await overDay(rx, budget, recipients, now));
    if (over !== undefined) return over;
  }
  return undefined;
}

/** Counts an accepted message. */
export async function countBudget(
  tx: Write,
  budgets: readonly Budget[],
  recipients: readonly string[],
  { now }: Stamp,
): Promise<void> {
  for (const budget of budgets) {
    const { subject, rate, newRecipients } = budget;
    if (rate !== undefined) {
      await tx.run(
        `INSERT INTO budget_rate (subject, due_at) VALUES (?1, ?2 + CAST(?3 AS INTEGER))
         ON CONFLICT (subject) DO UPDATE SET due_at = max(budget_rate.due_at, ?2) + ?3`,
        subject,
        now,
        Math.ceil(1000 / rate.perSecond),
      );
    }
    if (budget.daily === undefined && newRecipients === undefined) continue;
    const fresh = newRecipients === undefined ? [] : await findUncontacted(tx, newRecipients.account, recipients);
    if (newRecipients !== undefined) await recordCorrespondents(tx, newRecipients.account, fresh, now);
    await count(tx, subject, { messages: recipients.length, fresh: fresh.length }, now);
  }
}

async function count(
  tx: Write,
  subject: string,
  { messages, fresh }: { messages: number; fresh: number },
  now: number,
): Promise<void> {
  await tx.run('DELETE FROM budget_use WHERE subject = ? AND interval_start <= ?', subject, now - DAY_MS - INTERVAL_MS);
  await tx.run(
    `INSERT INTO budget_use (subject, interval_start, messages, new_recipients) VALUES (?, ?, ?, ?)
     ON CONFLICT (subject, interval_start) DO UPDATE SET messages = budget_use.messages + excluded.messages,
       new_recipients = budget_use.new_recipients + excluded.new_recipients`,
    subject,
    now - (now % INTERVAL_MS),
    messages,
    fresh,
  );
}

/** Rows of one slice. */
const SLICE = 200;

/** Purges a slice of expired rates and intervals. */
export const purgeBudgetUse = command('purge-budget-use', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const rates = await tx.run(
    'DELETE FROM budget_rate WHERE subject IN (SELECT subject FROM budget_rate WHERE due_at <= ? LIMIT ?)',
    now,
    SLICE,
  );
  const used = await tx.run(
    `DELETE FROM budget_use WHERE (subject, interval_start) IN
       (SELECT subject, interval_start FROM budget_use WHERE interval_start <= ? LIMIT ?)`,
    now - DAY_MS - INTERVAL_MS,
    SLICE,
  );
  return rates.changes === SLICE || used.changes === SLICE;
});

/** Generic cell rate algorithm: a message before its due time uses the burst. */
async function overRate(
  rx: Read,
  { subject, explanation, rate }: Budget,
  now: number,
): Promise<OverAllowance | undefined> {
  if (rate === undefined) return undefined;
  const row = await rx.get<{ due_at: number }>('SELECT due_at FROM budget_rate WHERE subject = ?', subject);
  const room = ((rate.burst - 1) * 1000) / rate.perSecond;
  const wait = (row?.due_at ?? now) - room - now;
  return wait <= 0 ? undefined : { kind: 'over', what: 'rate', most: rate.perSecond, wait, until: explanation };
}

async function overDay(
  rx: Read,
  { subject, explanation, daily, newRecipients }: Budget,
  recipients: readonly string[],
  now: number,
): Promise<OverAllowance | undefined> {
  if (daily === undefined && newRecipients === undefined) return undefined;
  const rows = await rx.all<{ interval_start: number; messages: number; new_recipients: number }>(
    'SELECT interval_start, messages, new_recipients FROM budget_use WHERE subject = ? AND interval_start > ? ORDER BY interval_start',
    subject,
    now - DAY_MS - INTERVAL_MS,
  );
  const ends = rows.map((row) => row.interval_start + INTERVAL_MS + DAY_MS);
  const used = rows.map((row) => row.messages);
  if (daily !== undefined && sum(used) + recipients.length > daily) {
    const wait = capacityAt(used, ends, daily - recipients.length) - now;
    return { kind: 'over', what: 'messages', most: daily, wait, until: explanation };
  }
  if (newRecipients === undefined) return undefined;
  const { account, most } = newRecipients;
  const fresh = (await findUncontacted(rx, account, recipients)).length;
  const met = rows.map((row) => row.new_recipients);
  if (fresh === 0 || sum(met) + fresh <= most) return undefined;
  return {
    kind: 'over',
    what: 'new-recipients',
    most,
    wait: capacityAt(met, ends, most - fresh) - now,
    until: explanation,
  };
}

/** Remaining recipients of all budgets today; null: no limit. */
export const budgetLeft = query(
  'budget-left',
  async (
    rx,
    { budgets, now }: { budgets: readonly Budget[]; now: number },
  ): Promise<{ recipients: number | null; newRecipients: number | null } | null> => {
    const left = { recipients: Infinity, newRecipients: Infinity };
    for (const { subject, daily = Infinity, newRecipients } of budgets) {
      const used = await rx.get<{ messages: number | null; met: number | null }>(
        'SELECT sum(messages) AS messages, sum(new_recipients) AS met FROM budget_use WHERE subject = ? AND interval_start > ?',
        subject,
        now - DAY_MS - INTERVAL_MS,
      );
      left.recipients = Math.min(left.recipients, daily - (used?.messages ?? 0));
      left.newRecipients = Math.min(left.newRecipients, (newRecipients?.most ?? Infinity) - (used?.met ?? 0));
    }
    const { recipients, newRecipients } = left;
    if (recipients === Infinity && newRecipients === Infinity) return null;
    const shown = (n: number): number | null => (n === Infinity ? null : Math.max(0, n));
    return { recipients: shown(recipients), newRecipients: shown(newRecipients) };
  },
);

/** Time, ms UTC, at which enough intervals have expired that usage is at most `most`. */
function capacityAt(used: readonly number[], ends: readonly number[], most: number): number {
  let left = sum(used);
  for (const [i, one] of used.entries()) {
    left -= one;
    if (left <= most) return ends[i] ?? 0;
  }
  // One message exceeds the daily limit: it never fits.
  return ends.at(-1) ?? DAY_MS;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** Those of the recipients that the account never wrote to; `account` is minus the tenant for programs. */
export async function findUncontacted(rx: Read, account: number, recipients: readonly string[]): Promise<string[]> {
  const rows = await rx.all<{ key: string }>(
    `SELECT DISTINCT value AS key FROM json_each(?1, '$') WHERE NOT EXISTS
       (SELECT 1 FROM correspondent WHERE account_id = ?2 AND key = value)`,
    JSON.stringify(recipients),
    account,
  );
  return rows.map((row) => row.key);
}

/** Records recipients as correspondents of the account. */
export async function recordCorrespondents(
  tx: Write,
  account: number,
  recipients: readonly string[],
  now: number,
): Promise<void> {
  for (const key of recipients) {
    await tx.run(
      'INSERT INTO correspondent (account_id, key, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      account,
      key,
      now,
    );
  }
}
