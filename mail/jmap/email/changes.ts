import { type EmailChange, emailChanges, isEmptying, type NotKnown } from '../../store/email-changes.ts';
import type { Query } from '../../store/engine/types.ts';
import { jmapId } from '../ids.ts';
import type { JmapDesk } from '../method.ts';
import { cannotCalculate, type Changed, type Changes } from '../standard-changes.ts';
import { formatCut, formatState, type State } from '../state.ts';

/** What became of one object since a client's state; undefined: nothing that concerns it. */
export type Fate = 'created' | 'updated' | 'destroyed' | undefined;

/** Where `since` is a cut, what was told since its origin may be known to the client by now. */
export function fateOf(one: Pick<EmailChange, 'created' | 'shown' | 'shownAt'>, since: State): Fate {
  if (one.shown === 1) return one.shownAt > since.origin ? 'created' : 'updated';
  // Hidden since before, or made behind the part that the client was told: it never saw it.
  return one.shownAt > since.origin && one.created <= since.modseq ? 'destroyed' : undefined;
}

interface Input {
  account: number;
  since: State;
  limit: number;
}

/** Reads changes on this thread, or beside it while a large mailbox is being emptied. Throws MethodError. */
export async function readingChanges<T extends { kind: 'changes' }>(
  desk: JmapDesk,
  what: Query<Input, T | NotKnown>,
  input: Input,
): Promise<T> {
  const long = await desk.store.read(isEmptying, input);
  const found = await (long ? desk.store.scan(what, input) : desk.store.read(what, input));
  switch (found.kind) {
    case 'changes':
      return found;
    case 'pruned':
      throw cannotCalculate('is too old');
    case 'future':
      throw cannotCalculate('is none that this account had');
  }
}

/** Emails since a state. */
export async function changedEmails(desk: JmapDesk, asked: Changes): Promise<Changed> {
  const input = { account: asked.access.account, since: asked.since, limit: asked.maxChanges };
  const { state, changes, cut } = await readingChanges(desk, emailChanges, input);
  const told = (fate: Fate): string[] =>
    changes.filter((one) => fateOf(one, asked.since) === fate).map((one) => jmapId('email', one.id));
  return {
    newState: cut === undefined ? formatState(state) : formatCut({ ...cut, origin: asked.since.origin }),
    hasMoreChanges: cut !== undefined,
    created: told('created'),
    updated: told('updated'),
    destroyed: told('destroyed'),
  };
}
