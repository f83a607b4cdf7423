import type { Query } from '../../store/engine/types.ts';
import {
  type SharedChanges,
  sharedEmailChanges,
  type SharedInput,
  sharedThreadChanges,
} from '../../store/message/shared-emails.ts';
import { jmapId, type JmapIdKind } from '../core/ids.ts';
import { cannotCalculate, type SharedChangesFinder } from '../standard/standard-changes.ts';

/** Finds changes of one kind of object in readable mailboxes; reads in a reader thread. */
function finder(
  kind: JmapIdKind,
  what: Query<SharedInput & { since: string; limit: number }, SharedChanges>,
): SharedChangesFinder {
  return async ({ store }, { login, owner }, { sinceState: since, maxChanges: limit }) => {
    const found = await store.scan(what, { login, owner, since, limit });
    if (found.kind === 'unknown') throw cannotCalculate('is too old, or the rights have changed since');
    if (found.kind === 'too-many') throw cannotCalculate('has more changes than fit');
    const ids = (rows: readonly number[]): string[] => rows.map((row) => jmapId(kind, row));
    return {
      newState: found.state,
      hasMoreChanges: false,
      created: ids(found.created),
      updated: ids(found.updated),
      destroyed: ids(found.destroyed),
    };
  };
}

/** Email/changes of a shared account. */
export const sharedEmailChangesFinder = finder('email', sharedEmailChanges);

/** Thread/changes of a shared account. */
export const sharedThreadChangesFinder = finder('thread', sharedThreadChanges);
