import type { Reads } from '../engine/reads.ts';
import { type Command, command, lookup, type UidRange, type Write } from '../engine/types.ts';
import { ownsMailbox } from './entry-commands.ts';
import type { FlagChange, StoreFlagsResult } from './flag-change.ts';
import { storeKeywords } from './flags.ts';
import { type MaskedFlags, recordModseq, writeRange } from './range-flags.ts';

/** Maximum messages of one {@link logRangeFlags}. */
export const MAX_LOGGED = 10_000;

/** A change of uncounted flags (see `isUncounted`) in ranges that have no other message than those meant. */
export interface RangeChange extends Pick<FlagChange, 'account' | 'mailbox' | 'flags'> {
  how: 'add' | 'remove';
  ranges: readonly UidRange[];
}

/** `unsuitable`: an email of the account may be in several mailboxes, or a keyword has no slot; nothing was stored. */
export type LoggedFlags = StoreFlagsResult | { kind: 'unsuitable' };

/** A row of flag_range. */
export interface LoggedRange extends MaskedFlags, Record<string, number> {
  account: number;
  mailbox: number;
  modseq: number;
  from: number;
  to: number;
  whole: number;
}

const COLUMNS = `account_id AS account, mailbox_id AS mailbox, modseq, first_uid AS "from", last_uid AS "to", bits, value, whole`;

/**
 * Writes logged flags to the rows of the messages, in the order of the log, up to `rows` messages. `more`: call it again.
 */
export const applyRangeFlags = command(
  'apply-range-flags',
  async (tx, { rows = Infinity }: { rows?: number }): Promise<{ more: boolean }> => {
    for (let rest = rows; rest > 0;) {
      const logged = await tx.get<LoggedRange>(
        `SELECT ${COLUMNS} FROM flag_range ORDER BY account_id, modseq, first_uid LIMIT 1`,
      );
      if (logged === undefined) return { more: false };
      const range = { from: logged.from, to: Math.min(logged.to, logged.from + rest - 1) };
      await writeRange(tx, { ...logged, range });
      await shorten(tx, logged, range);
      rest -= range.to - range.from + 1;
    }
    return { more: true };
  },
);

async function shorten(tx: Write, { account, modseq, from, to }: LoggedRange, applied: UidRange): Promise<void> {
  if (applied.to === to) {
    await tx.run('DELETE FROM flag_range WHERE account_id = ? AND modseq = ? AND first_uid = ?', account, modseq, from);
    return;
  }
  await tx.run(
    'UPDATE flag_range SET first_uid = ? WHERE account_id = ? AND modseq = ? AND first_uid = ?',
    applied.to + 1,
    account,
    modseq,
    from,
  );
}

/**
 * Stores a change of flags as one row a range, which costs the same for any number of messages. Views and mod-sequences
 * have it at once. The writer applies it to the rows before any other command; readers wait (see `RangeLog`).
 */
export const logRangeFlags: Command<RangeChange, LoggedFlags> = {
  ...command('log-range-flags', logFlags),
  leaves: applyRangeFlags,
};

async function logFlags(tx: Write, change: RangeChange): Promise<LoggedFlags> {
  const { account, mailbox, ranges, how, flags } = change;
  if (!(await ownsMailbox(tx, account, mailbox))) return { kind: 'missing' };
  const given = await storeKeywords(tx, account, flags, { by: null, making: how === 'add' });
  if (given === undefined) return { kind: 'too-many-keywords' };
  if (given.kw.length > 0 || !(await hasNoCopies(tx, account))) return { kind: 'unsuitable' };
  const masked = { bits: given.bits, value: how === 'add' ? given.bits : 0 };
  const same = await lastOfSameRange(tx, change, masked);
  const isChange = same === undefined ? await changes(tx, { ...change, ...masked }) : same.value !== masked.value;
  if (!isChange) return { kind: 'done', modseq: null, modified: [] };
  const modseq = await tx.nextModseq(account);
  if (same !== undefined)
    await tx.run('DELETE FROM flag_range WHERE account_id = ? AND modseq = ?', account, same.modseq);
  await addRanges(tx, change, { ...masked, modseq, whole: same === undefined ? 0 : 1 });
  const before = await recordModseq(tx, mailbox, modseq);
  tx.touched(account, mailbox, { ...masked, ranges, before, modseq });
  return { kind: 'done', modseq, modified: [] };
}

/**
 * The newest row of the log, if it is of the same range and flags and nothing of it is applied. Then an opposite change
 * takes its place: each message had the old value after that one, so each gets the new one and the new mod-sequence.
 */
async function lastOfSameRange(
  tx: Write,
  { account, mailbox, ranges: [range, ...others] }: RangeChange,
  { bits }: MaskedFlags,
): Promise<LoggedRange | undefined> {
  if (range === undefined || others.length > 0) return undefined;
  const rows = await tx.all<LoggedRange>(
    `SELECT ${COLUMNS} FROM flag_range WHERE account_id = ? ORDER BY modseq DESC, first_uid LIMIT 2`,
    account,
  );
  const [last, next] = rows;
  const isSame = last?.mailbox === mailbox && last.from === range.from && last.to === range.to && last.bits === bits;
  return isSame && next?.modseq !== last.modseq ? last : undefined;
}

async function addRanges(
  tx: Write,
  { account, mailbox, ranges }: RangeChange,
  { modseq, bits, value, whole }: MaskedFlags & { modseq: number; whole: number },
): Promise<void> {
  await tx.run(
    `INSERT INTO flag_range (account_id, modseq, mailbox_id, bits, value, whole, first_uid, last_uid)
     SELECT CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER),
       CAST(? AS INTEGER), CAST(value ->> 'from' AS INTEGER), CAST(value ->> 'to' AS INTEGER) FROM json_each(?, '$')`,
    account,
    modseq,
    mailbox,
    bits,
    value,
    whole,
    JSON.stringify(ranges),
  );
}

/** Reports whether each email of the account is in one mailbox: it has as many entries as emails that have one. */
async function hasNoCopies(tx: Write, account: number): Promise<boolean> {
  const row = await tx.get(
    `SELECT 1 AS alone FROM account a WHERE a.id = ?
       AND a.used_count = (SELECT coalesce(sum(m.total), 0) FROM mailbox m WHERE m.account_id = a.id)`,
    account,
  );
  return row !== undefined;
}

/** Reports whether a message may get other flags. Rows do not show that while the log has changes of the account. */
async function changes(
  tx: Write,
  { account, mailbox, ranges, bits, value }: MaskedFlags & Pick<RangeChange, 'account' | 'mailbox' | 'ranges'>,
): Promise<boolean> {
  const row = await tx.get(
    `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM flag_range WHERE account_id = ?) OR EXISTS (
       SELECT 1 FROM json_each(?, '$') j CROSS JOIN entry n ON n.mailbox_id = ?
         AND n.uid BETWEEN CAST(j.value ->> 'from' AS INTEGER) AND CAST(j.value ->> 'to' AS INTEGER)
       WHERE n.flags & ? <> ?)`,
    account,
    JSON.stringify(ranges),
    mailbox,
    bits,
    value,
  );
  return row !== undefined;
}

/** Accounts with changes in the log. */
export const accountsOfLog = lookup('accounts-of-flag-log', async (rx): Promise<number[]> => {
  const rows = await rx.all<{ account: number }>('SELECT DISTINCT account_id AS account FROM flag_range');
  return rows.map(({ account }) => account);
});

/** Reads changes of a mailbox after a mod-sequence that the rows of its messages may not have yet, oldest first. */
export function* loggedRanges(
  { account, mailbox }: { account: number; mailbox: number },
  since: number,
): Reads<LoggedRange[]> {
  return (yield {
    sql: `SELECT ${COLUMNS} FROM flag_range WHERE account_id = ? AND mailbox_id = ? AND modseq > ? ORDER BY modseq, first_uid`,
    params: [account, mailbox, since],
  }) as LoggedRange[];
}
