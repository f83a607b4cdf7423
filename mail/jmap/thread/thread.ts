import { readableFolders, sharedEmailState } from '../../store/mailbox/shared-account.ts';
import { sharedThreadEmails } from '../../store/message/shared-emails.ts';
import { emailChanges } from '../../store/message/email-changes.ts';
import { areShortThreads, threadChanges, threadEmails } from '../../store/message/thread.ts';
import { MAIL } from '../core/capabilities.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { JmapContext, MethodCall } from '../core/method.ts';
import { sharedPart } from '../core/shared-accounts.ts';
import { sharedThreadChangesFinder } from '../email/shared-changes.ts';
import { readChangesPage } from '../email/email-changes.ts';
import {
  changesMethod,
  type ChangesRequest,
  type ChangesResult,
  type ChangeState,
  cutChanges,
  formatState,
} from '../standard/standard-changes.ts';
import { getMethod, tooManyObjects } from '../standard/standard-get.ts';

/** Maximum emails read on the main thread; more are read in a reader thread. */
const MAX_EMAILS_INLINE = 2_000;

const PROPERTIES: ReadonlySet<string> = new Set(['id', 'emailIds']);

/** Thread/get. RFC 8621 3.1. */
export const threadGet = getMethod({
  name: 'Thread/get',
  capability: MAIL,
  properties: PROPERTIES,
  canShare: true,
  async find(call, { ids, access: { account } }) {
    if (ids === null) throw tooManyObjects(call);
    const input = { account, threads: ids.flatMap((id) => jmapRow('thread', account, id) ?? []) };
    const { threads, state } = await readThreads(call, input);
    const found = [...threads].map(([thread, emails]) => ({
      id: jmapId('thread', thread),
      emailIds: emails.map((email) => jmapId('email', email)),
    }));
    return { found, state };
  },
});

async function readThreads(
  call: MethodCall,
  input: { account: number; threads: number[] },
): Promise<{ threads: ReadonlyMap<number, number[]>; state: string }> {
  const { store } = call.context;
  const shared = sharedPart(call, input.account);
  if (shared !== undefined) {
    const scope = { owner: shared.owner, folders: readableFolders(shared), threads: input.threads };
    return { threads: await store.scan(sharedThreadEmails, scope), state: sharedEmailState(shared) };
  }
  const short = await store.read(areShortThreads, { ...input, most: MAX_EMAILS_INLINE });
  const { threads, state } = await (short ? store.read(threadEmails, input) : store.scan(threadEmails, input));
  return { threads, state: formatState(state) };
}

/** Thread/changes. A thread is destroyed with its last visible email. RFC 8621 3.2. */
export const threadChangesMethod = changesMethod('Thread/changes', MAIL, changedThreads, sharedThreadChangesFinder);

/** Maximum changes read on the main thread: each reads a whole thread, which may have hundreds of emails. */
const MAX_CHANGES_INLINE = 20;

async function hasManyChanges(context: JmapContext, input: { account: number; since: ChangeState }): Promise<boolean> {
  const found = await readChangesPage(context, emailChanges, { ...input, limit: MAX_CHANGES_INLINE });
  return found.cut !== undefined;
}

/** Threads changed since a state. Each is reported once, with the last change of its emails. */
async function changedThreads(context: JmapContext, request: ChangesRequest): Promise<ChangesResult> {
  const input = { account: request.access.account, since: request.since, limit: request.maxChanges };
  const { state, changes, cut } = await readChangesPage(
    context,
    threadChanges,
    input,
    await hasManyChanges(context, input),
  );
  return cutChanges(request.since, { state, cut }, (fate) =>
    changes.filter((one) => one.fate === fate).map((one) => jmapId('thread', one.thread)),
  );
}
