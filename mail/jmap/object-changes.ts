import type { ChangesAfter, ObjectChange, ObjectChanges } from '../store/object-change.ts';
import { type JmapIdKind, jmapId } from './ids.ts';
import { answerChanges, cannotCalculate, type Changes } from './standard-changes.ts';
import { formatCut, formatState } from './state.ts';

/** What the store is asked for one /changes: one row more than fits, to know whether there is more. */
export function changesAfter({ access, since, maxChanges }: Changes): ChangesAfter {
  return { account: access.account, modseq: since.modseq, row: since.row, limit: maxChanges + 1 };
}

/** Answers a /changes of a type whose objects have rows and tombstones. RFC 8620 5.2. */
export function tellChanges(asked: Changes, kind: JmapIdKind, found: ObjectChanges): Record<string, unknown> {
  const { since, maxChanges } = asked;
  checkState(since.modseq, found);
  const told = found.changes.slice(0, maxChanges);
  const last = told.at(-1);
  const hasMoreChanges = found.changes.length > maxChanges && last !== undefined;
  const { origin } = since;
  const idsOf = (is: (one: ObjectChange) => boolean): string[] => told.filter(is).map(({ id }) => jmapId(kind, id));
  return answerChanges(asked, {
    newState: hasMoreChanges
      ? formatCut({ modseq: last.modseq, row: last.id, origin })
      : formatState(Math.max(found.state, since.modseq)),
    hasMoreChanges,
    created: idsOf((one) => one.gone === 0 && one.created > origin),
    updated: idsOf((one) => one.gone === 0 && one.created <= origin),
    // What was created behind the origin and told before the cut is known to the client as well.
    destroyed: idsOf((one) => one.gone === 1 && one.created <= Math.max(origin, since.modseq)),
  });
}

/** A state of the future was never given, one before the floor is forgotten. */
export function checkState(modseq: number, { state, floor }: Pick<ObjectChanges, 'state' | 'floor'>): void {
  if (modseq > state) throw cannotCalculate('is none of this server');
  if (modseq < floor) throw cannotCalculate('is too old');
}
