import type { OverAllowance } from './allowance.ts';
import { command, query, type Read, type Stamp, type Write } from './engine/types.ts';

/** How much somebody may send; each part counts for itself, what is left out is no limit. */
export interface Budget {
  /** Who is counted: `account/12`, `tenant/3`, the public id of a key. */
  subject: string;
  /** A sentence for people: whose limit it is, and what to do. */
  told: string;
  /** A steady stream of messages, and how many may come at once. */
  rate?: { perSecond: number; burst: number };
  /** In any 24 hours, one a recipient. */
  daily?: number;
  /** Recipients whom this account never wrote to before, in any 24 hours. */
  newRecipients?: { account: number; most: number };
  /** Whoever is counted is paused when it does what it never did. */
  watched?: boolean;
}

const DAY_MS = 24 * 3_600_000;
const STRETCH_MS = 10 * 60_000;

/** The first budget that a message to these recipients is too much for; nothing is counted. */
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

/** Counts a message that was not too much. */
export async function spend(
  tx: Write,
  budgets: readonly Budget[],
  recipients: readonly string[],
  { now }: Stamp,
): Promise<void> {
  for (const budget of budgets) {
    const { subject, rate, newRecipients } = budget;
    if (rate !== undefined) {
      await tx.run(
        `INSERT INTO budget_rate (subject, due_at) VALUES (?1, ?2 + ?3)
         ON CONFLICT (subject) DO UPDATE SET due_at = max(due_at, ?2) + ?3`,
        subject,
        now,
        Math.ceil(1000 / rate.perSecond),
      );
    }
    if (budget.daily === undefined && newRecipients === undefined) continue;
    const fresh = newRecipients === undefined ? [] : await strangers(tx, newRecipients.account, recipients);
    if (newRecipients !== undefined) await meet(tx, newRecipients.account, fresh, now);
    await count(tx, subject, { messages: recipients.length, fresh: fresh.length }, now);
  }
}

async function count(
  tx: Write,
  subject: string,
  { messages, fresh }: { messages: number; fresh: number },
  now: number,
): Promise<void> {
  await tx.run('DELETE FROM budget_use WHERE subject = ? AND stretch <= ?', subject, now - DAY_MS - STRETCH_MS);
  await tx.run(
    `INSERT INTO budget_use (subject, stretch, messages, new_recipients) VALUES (?, ?, ?, ?)
     ON CONFLICT (subject, stretch) DO UPDATE SET messages = messages + excluded.messages,
       new_recipients = new_recipients + excluded.new_recipients`,
    subject,
    now - (now % STRETCH_MS),
    messages,
    fresh,
  );
}

/** Rows of one slice. */
const SLICE = 200;

/** Forgets a slice of what no budget asks about any more: rates whose time has come, and days that are over. */
export const forgetSpent = command('forget-spent', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const rates = await tx.run(
    'DELETE FROM budget_rate WHERE subject IN (SELECT subject FROM budget_rate WHERE due_at <= ? LIMIT ?)',
    now,
    SLICE,
  );
  const used = await tx.run(
    `DELETE FROM budget_use WHERE (subject, stretch) IN
       (SELECT subject, stretch FROM budget_use WHERE stretch <= ? LIMIT ?)`,
    now - DAY_MS - STRETCH_MS,
    SLICE,
  );
  return rates.changes === SLICE || used.changes === SLICE;
});

/** The generic cell rate algorithm: a message that comes before it is due uses up the burst. */
async function overRate(rx: Read, { subject, told, rate }: Budget, now: number): Promise<OverAllowance | undefined> {
  if (rate === undefined) return undefined;
  const row = await rx.get<{ due_at: number }>('SELECT due_at FROM budget_rate WHERE subject = ?', subject);
  const room = ((rate.burst - 1) * 1000) / rate.perSecond;
  const wait = (row?.due_at ?? now) - room - now;
  return wait <= 0 ? undefined : { kind: 'over', what: 'rate', most: rate.perSecond, wait, until: told };
}

async function overDay(
  rx: Read,
  { subject, told, daily, newRecipients }: Budget,
  recipients: readonly string[],
  now: number,
): Promise<OverAllowance | undefined> {
  if (daily === undefined && newRecipients === undefined) return undefined;
  const rows = await rx.all<{ stretch: number; messages: number; new_recipients: number }>(
    'SELECT stretch, messages, new_recipients FROM budget_use WHERE subject = ? AND stretch > ? ORDER BY stretch',
    subject,
    now - DAY_MS - STRETCH_MS,
  );
  const ends = rows.map((row) => row.stretch + STRETCH_MS + DAY_MS);
  const used = rows.map((row) => row.messages);
  if (daily !== undefined && sum(used) + recipients.length > daily) {
    const wait = roomAt(used, ends, daily - recipients.length) - now;
    return { kind: 'over', what: 'messages', most: daily, wait, until: told };
  }
  if (newRecipients === undefined) return undefined;
  const { account, most } = newRecipients;
  const fresh = (await strangers(rx, account, recipients)).length;
  const met = rows.map((row) => row.new_recipients);
  if (fresh === 0 || sum(met) + fresh <= most) return undefined;
  return { kind: 'over', what: 'new-recipients', most, wait: roomAt(met, ends, most - fresh) - now, until: told };
}

/** Recipients that are left today of the budgets together; null: no limit. */
export const budgetLeft = query(
  'budget-left',
  async (
    rx,
    { budgets, now }: { budgets: readonly Budget[]; now: number },
  ): Promise<{ recipients: number | null; newRecipients: number | null } | null> => {
    const left = { recipients: Infinity, newRecipients: Infinity };
    for (const { subject, daily = Infinity, newRecipients } of budgets) {
      const used = await rx.get<{ messages: number | null; met: number | null }>(
        'SELECT sum(messages) AS messages, sum(new_recipients) AS met FROM budget_use WHERE subject = ? AND stretch > ?',
        subject,
        now - DAY_MS - STRETCH_MS,
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

/** When no more than `most` is left of what was used, as stretch after stretch ends; ms UTC. */
function roomAt(used: readonly number[], ends: readonly number[], most: number): number {
  let left = sum(used);
  for (const [i, one] of used.entries()) {
    left -= one;
    if (left <= most) return ends[i] ?? 0;
  }
  // More in one message than a day allows: it never fits.
  return ends.at(-1) ?? DAY_MS;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** Who of these an account never wrote to; `account` is minus the tenant for what its programs send. */
export async function strangers(rx: Read, account: number, recipients: readonly string[]): Promise<string[]> {
  const rows = await rx.all<{ key: string }>(
    `SELECT DISTINCT value AS key FROM json_each(?1) WHERE NOT EXISTS
       (SELECT 1 FROM correspondent WHERE account_id = ?2 AND key = value)`,
    JSON.stringify(recipients),
    account,
  );
  return rows.map((row) => row.key);
}

/** They are strangers no more. */
export async function meet(tx: Write, account: number, recipients: readonly string[], now: number): Promise<void> {
  for (const key of recipients) {
    await tx.run('INSERT OR IGNORE INTO correspondent (account_id, key, since) VALUES (?, ?, ?)', account, key, now);
  }
}
