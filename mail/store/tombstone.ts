import type { Read, Stamp, Write } from './engine/types.ts';

/** Types that note what was destroyed with no thread beside it. */
type Gone = 'Identity' | 'EmailSubmission';

/** Remembers that an object was destroyed, for those who ask what changed. */
export async function bury(
  tx: Write,
  type: Gone,
  gone: { account: number; id: number; created: number; modseq: number },
  stamp: Stamp,
): Promise<void> {
  await tx.run(
    `INSERT INTO tombstone (account_id, type, modseq, object_id, created_modseq, at) VALUES (?, ?, ?, ?, ?, ?)`,
    gone.account,
    type,
    gone.modseq,
    gone.id,
    gone.created,
    stamp.now,
  );
}

/** Changes of a type before this mod-sequence are not known any more. */
export async function floorOf(rx: Read, account: number, type: Gone): Promise<number> {
  const row = await rx.get<{ floor: number }>(
    'SELECT floor FROM type_state WHERE account_id = ? AND type = ?',
    account,
    type,
  );
  return row?.floor ?? 0;
}
