import type { MailboxChange } from '../../store/mailbox-tree.ts';
import { jmapId } from '../ids.ts';
import type { Changed, Changes } from '../standard-changes.ts';
import { formatCut, formatState } from '../state.ts';
import { COUNTS } from './shape.ts';

/** What a client that stands at `asked` is told of these changes, which came with one more than it wants. */
export function changedMailboxes(
  asked: Changes,
  found: { state: number; changes: readonly MailboxChange[] },
): Changed & { updatedProperties: readonly string[] | null } {
  const { origin, modseq } = asked.since;
  const page = found.changes.slice(0, asked.maxChanges);
  const last = page.at(-1);
  const hasMoreChanges = found.changes.length > page.length;
  const ids = (rows: readonly MailboxChange[]): string[] => rows.map((row) => jmapId('mailbox', row.id));
  const there = page.filter((row) => row.gone === 0);
  const updated = there.filter((row) => row.createdModseq <= origin);
  const onlyCounts = updated.length > 0 && updated.every((row) => row.modseq <= origin);
  return {
    newState:
      hasMoreChanges && last !== undefined
        ? formatCut({ modseq: last.at, row: last.id, origin })
        : formatState(found.state),
    hasMoreChanges,
    created: ids(there.filter((row) => row.createdModseq > origin)),
    updated: ids(updated),
    // What was made behind the part that the client was told cannot be known to it.
    destroyed: ids(page.filter((row) => row.gone === 1 && row.createdModseq <= modseq)),
    updatedProperties: onlyCounts ? COUNTS : null,
  };
}
