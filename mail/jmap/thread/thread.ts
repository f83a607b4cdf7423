import { emailChanges } from '../../store/message/email-changes.ts';
import { areShortThreads, threadChanges, threadEmails } from '../../store/message/thread.ts';
import { MAIL } from '../core/capabilities.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { JmapContext, JmapMethod } from '../core/method.ts';
import { readChangesPage } from '../email/email-changes.ts';
import {
  answerChanges,
  type ChangesRequest,
  type ChangesResult,
  type ChangeState,
  formatCut,
  formatState,
  readChanges,
} from '../standard/standard-changes.ts';
import { answerGet, pick, readGet, tooMany } from '../standard/standard-get.ts';

/** Maximum emails read on the main thread; more are read in a reader thread. */
const MAX_EMAILS_INLINE = 2_000;

const PROPERTIES: ReadonlySet<string> = new Set(['id', 'emailIds']);

/** Thread/get. RFC 8621 3.1. */
export const threadGet: JmapMethod = {
  name: 'Thread/get',
  capability: MAIL,
  async run(call, args) {
    const get = readGet(call, args, (property) => PROPERTIES.has(property), {});
    if (get.ids === null) throw tooMany(call);
    const { account } = get.access;
    const input = { account, threads: get.ids.flatMap((id) => jmapRow('thread', account, id) ?? []) };
    const { store } = call.context;
    const short = await store.read(areShortThreads, { ...input, most: MAX_EMAILS_INLINE });
    const found = await (short ? store.read(threadEmails, input) : store.scan(threadEmails, input));
    const threads = [...found.threads].map(([thread, emails]) => ({
      id: jmapId('thread', thread),
      emailIds: emails.map((email) => jmapId('email', email)),
    }));
    return answerGet(
      get,
      formatState(found.state),
      threads.map((one) => pick(one, get.properties)),
    );
  },
};

/** Thread/changes. A thread is destroyed with its last visible email. RFC 8621 3.2. */
export const threadChangesMethod: JmapMethod = {
  name: 'Thread/changes',
  capability: MAIL,
  async run(call, args) {
    const request = readChanges(call, args);
    return answerChanges(request, await changedThreads(call.context, request));
  },
};

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
  const idsOf = (fate: string): string[] =>
    changes.filter((one) => one.fate === fate).map((one) => jmapId('thread', one.thread));
  return {
    newState: cut === undefined ? formatState(state) : formatCut({ ...cut, origin: request.since.origin }),
    hasMoreChanges: cut !== undefined,
    created: idsOf('created'),
    updated: idsOf('updated'),
    destroyed: idsOf('destroyed'),
  };
}
