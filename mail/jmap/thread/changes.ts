import { threadChanges } from '../../store/thread.ts';
import { readingChanges } from '../email/changes.ts';
import { jmapId } from '../ids.ts';
import type { JmapDesk } from '../method.ts';
import type { Changed, Changes } from '../standard-changes.ts';
import { formatCut, formatState } from '../state.ts';

/** Threads since a state. Each is told once, in the part of the answer in which the last of its emails changed. */
export async function changedThreads(desk: JmapDesk, asked: Changes): Promise<Changed> {
  const input = { account: asked.access.account, since: asked.since, limit: asked.maxChanges };
  const { state, changes, cut } = await readingChanges(desk, threadChanges, input);
  const told = (fate: string): string[] =>
    changes.filter((one) => one.fate === fate).map((one) => jmapId('thread', one.thread));
  return {
    newState: cut === undefined ? formatState(state) : formatCut({ ...cut, origin: asked.since.origin }),
    hasMoreChanges: cut !== undefined,
    created: told('created'),
    updated: told('updated'),
    destroyed: told('destroyed'),
  };
}
