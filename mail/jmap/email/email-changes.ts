import type { Query } from '../../store/engine/types.ts';
import {
  emailChanges,
  type EmailStateChange,
  isEmptying,
  type UnknownState,
} from '../../store/message/email-changes.ts';
import { sharedEmailChangesFinder } from './shared-changes.ts';
import { MAIL } from '../core/capabilities.ts';
import { jmapId } from '../core/ids.ts';
import type { JmapContext } from '../core/method.ts';
import {
  cannotCalculate,
  type ChangeKind,
  changesMethod,
  type ChangesRequest,
  type ChangesResult,
  type ChangeState,
  cutChanges,
} from '../standard/standard-changes.ts';

/** Email/changes. RFC 8621 4.3. */
export const emailChangesMethod = changesMethod('Email/changes', MAIL, changedEmails, sharedEmailChangesFinder);

/** Classifies a change; undefined if the client need not know. If `since` is an intermediate state, the client may know objects reported since its origin. */
function changeKindOf(
  one: Pick<EmailStateChange, 'created' | 'shown' | 'shownAt'>,
  since: ChangeState,
): ChangeKind | undefined {
  if (one.shown === 1) return one.shownAt > since.origin ? 'created' : 'updated';
  // The client never saw it: hidden before, or created after the last reported change.
  return one.shownAt > since.origin && one.created <= since.modseq ? 'destroyed' : undefined;
}

interface Input {
  account: number;
  since: ChangeState;
  limit: number;
}

/**
 * Reads changes on the main thread, or in a reader thread while a large mailbox is being emptied or if `isLong`. Throws
 * MethodError.
 */
export async function readChangesPage<T extends { kind: 'changes' }>(
  context: JmapContext,
  what: Query<Input, T | UnknownState>,
  input: Input,
  isLong = false,
): Promise<T> {
  const long = isLong || (await context.store.read(isEmptying, input));
  const found = await (long ? context.store.scan(what, input) : context.store.read(what, input));
  switch (found.kind) {
    case 'changes':
      return found;
    case 'pruned':
      throw cannotCalculate('is too old');
    case 'future':
      throw cannotCalculate('was not issued for this account');
  }
}

/** Emails changed since a state. */
async function changedEmails(context: JmapContext, request: ChangesRequest): Promise<ChangesResult> {
  const input = { account: request.access.account, since: request.since, limit: request.maxChanges };
  const { state, changes, cut } = await readChangesPage(context, emailChanges, input);
  return cutChanges(request.since, { state, cut }, (kind) =>
    changes.filter((one) => changeKindOf(one, request.since) === kind).map((one) => jmapId('email', one.id)),
  );
}
