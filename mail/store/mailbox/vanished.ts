import { lookup, type UidRange } from '../engine/types.ts';

/** Expunged messages that are listed one by one; beyond that the caller compares all UIDs. */
const MAX_LISTED = 5_000;

/**
 * UIDs that left a mailbox after a mod-sequence, ascending; undefined when there are too many to list. Uses the messages
 * expunged in the last 30 days and the ranges of older ones.
 */
export const vanishedSince = lookup(
  'vanished-since',
  async (
    rx,
    { account, mailbox, modseq }: { account: number; mailbox: number; modseq: number },
  ): Promise<UidRange[] | undefined> => {
    const rows = await rx.all<{ low: number; high: number }>(
      `SELECT x.uid AS low, x.uid AS high FROM expunged x JOIN mailbox m ON m.id = x.mailbox_id
       WHERE x.mailbox_id = ?1 AND x.modseq > ?2 AND m.account_id = ?3
       UNION ALL
       SELECT v.uid_lo, v.uid_hi FROM vanished v JOIN mailbox m ON m.id = v.mailbox_id
       WHERE v.mailbox_id = ?1 AND v.modseq > ?2 AND m.account_id = ?3 LIMIT ?4`,
      mailbox,
      modseq,
      account,
      MAX_LISTED + 1,
    );
    if (rows.length > MAX_LISTED) return undefined;
    const ranges: UidRange[] = [];
    for (const { low, high } of rows.sort((a, b) => a.low - b.low)) {
      const previous = ranges.at(-1);
      if (previous !== undefined && low === previous.to + 1) previous.to = high;
      else ranges.push({ from: low, to: high });
    }
    return ranges;
  },
);
