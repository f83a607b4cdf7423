import {
  type EnvelopeAddress,
  type StoredSubmission,
  submissionChanges,
  type SubmissionFacts,
  submissionFacts,
  type SubmissionRecipient,
  submissionsOf,
} from '../../store/submission/jmap-submission.ts';
import { type ArgumentReader, id, list, oneOf, utcDate, formatUtc } from '../core/arguments.ts';
import { MAX_IN_QUERY, SUBMISSION } from '../core/capabilities.ts';
import { MethodError } from '../core/errors.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { JmapMethod } from '../core/method.ts';
import {
  answerQuery,
  answerQueryChanges,
  compareCodeUnits,
  readQuery,
  readQueryChanges,
  type SearchSpec,
} from '../standard/object-query.ts';
import {
  cannotCalculate,
  changesAfter,
  changesMethod,
  checkState,
  formatState,
  objectChanges,
  readState,
} from '../standard/standard-changes.ts';
import { isOwnReply } from '../../store/journal/delivery-updates.ts';
import { getMethod, tooManyObjects } from '../standard/standard-get.ts';

const SUBMISSION_PROPERTIES: ReadonlySet<string> = new Set([
  'id',
  'identityId',
  'emailId',
  'threadId',
  'envelope',
  'sendAt',
  'undoStatus',
  'deliveryStatus',
  'dsnBlobIds',
  'mdnBlobIds',
]);

/** The EmailSubmission object. RFC 8621 7. DSNs and MDNs are delivered to the mailbox, so dsnBlobIds and mdnBlobIds are empty. */
export function submissionObject(one: StoredSubmission) {
  return {
    id: jmapId('submission', one.id),
    identityId: jmapId('identity', one.identity),
    emailId: jmapId('email', one.email),
    threadId: jmapId('thread', one.thread),
    envelope: { mailFrom: one.mailFrom, rcptTo: one.rcptTo.map(addressOf) },
    sendAt: formatUtc(one.sendAt),
    undoStatus: one.undo,
    deliveryStatus: Object.fromEntries(one.rcptTo.map((to) => [to.email, statusOf(to)])),
    dsnBlobIds: [],
    mdnBlobIds: [],
  };
}

export type SubmissionObject = ReturnType<typeof submissionObject>;

/** Tests if a reply of another server is shown. */
function quotesServer({ rcptTo }: StoredSubmission): boolean {
  return rcptTo.some((one) => !isOwnReply(one));
}

function addressOf({ email, parameters }: SubmissionRecipient): EnvelopeAddress {
  return { email, parameters };
}

function statusOf({ reply, delivered, displayed }: SubmissionRecipient) {
  return { smtpReply: reply, delivered, displayed };
}

/** EmailSubmission/get. RFC 8621 7.1. */
export const submissionGet = getMethod({
  name: 'EmailSubmission/get',
  capability: SUBMISSION,
  properties: SUBMISSION_PROPERTIES,
  async find(call, { ids, access: { account } }) {
    const rows = ids && ids.flatMap((id) => jmapRow('submission', account, id) ?? []);
    const most = call.context.limits.maxObjectsInGet;
    const input = { account, ids: rows, limit: most + 1 };
    const { submissions, state } = await call.context.store.scan(submissionsOf, input);
    if (submissions.length > most) throw tooManyObjects(call);
    if (submissions.some(quotesServer)) await call.session.onRemoteText?.();
    return { found: submissions.map(submissionObject), state: formatState(state) };
  },
});

/** EmailSubmission/changes. RFC 8621 7.2. */
export const submissionChangesMethod = changesMethod('EmailSubmission/changes', SUBMISSION, async (context, request) =>
  objectChanges(request, 'submission', await context.store.read(submissionChanges, changesAfter(request))),
);

type Match = (one: SubmissionFacts) => boolean;

/** Creates a condition on a list of ids. */
function amongIds(idOf: (one: SubmissionFacts) => string) {
  return (value: unknown, path: string): Match => {
    const ids = new Set(list(id)(value, path));
    return (one) => ids.has(idOf(one));
  };
}

function condition<T>(reader: ArgumentReader<T>, is: (one: SubmissionFacts, wanted: T) => boolean) {
  return (value: unknown, path: string): Match => {
    const wanted = reader(value, path);
    return (one) => is(one, wanted);
  };
}

/** Filter conditions and sort properties. RFC 8621 7.3. */
const SUBMISSION_SEARCH: SearchSpec<SubmissionFacts> = {
  idOf: (one) => jmapId('submission', one.id),
  conditions: {
    identityIds: amongIds((one) => jmapId('identity', one.identity)),
    emailIds: amongIds((one) => jmapId('email', one.email)),
    threadIds: amongIds((one) => jmapId('thread', one.thread)),
    undoStatus: condition(oneOf('pending', 'final', 'canceled'), (one, undo) => one.undo === undo),
    before: condition(utcDate, (one, at) => one.sendAt < at),
    after: condition(utcDate, (one, at) => one.sendAt >= at),
  },
  orders: {
    emailId: (a, b) => compareCodeUnits(a.email, b.email),
    threadId: (a, b) => compareCodeUnits(a.thread, b.thread),
    sentAt: (a, b) => compareCodeUnits(a.sendAt, b.sendAt),
  },
};

/** EmailSubmission/query. RFC 8621 7.3. */
export const submissionQuery: JmapMethod = {
  name: 'EmailSubmission/query',
  capability: SUBMISSION,
  async run(call, args) {
    const request = readQuery(call, args);
    const { facts, state } = await call.context.store.scan(submissionFacts, { account: request.access.account });
    return answerQuery(request, SUBMISSION_SEARCH, facts, formatState(state));
  },
};

/** EmailSubmission/queryChanges. RFC 8621 7.4. */
export const submissionQueryChanges: JmapMethod = {
  name: 'EmailSubmission/queryChanges',
  capability: SUBMISSION,
  async run({ context, ...call }, args) {
    const request = readQueryChanges({ context, ...call }, args);
    const since = readState(request.sinceQueryState);
    if (since === undefined) throw cannotCalculate('was not issued by this server');
    const { account } = request.access;
    // Reads the changes first: a change between the two reads is reported again, never missed.
    const after = { account, modseq: since.modseq, row: since.row, limit: MAX_IN_QUERY + 1 };
    const found = await context.store.read(submissionChanges, after);
    checkState(since.modseq, found);
    if (found.changes.length > MAX_IN_QUERY) {
      throw new MethodError('tooManyChanges', `More than ${MAX_IN_QUERY} changes. Run the query again.`);
    }
    const { facts } = await context.store.scan(submissionFacts, { account });
    const changed = found.changes.map((one) => jmapId('submission', one.id));
    const newQueryState = formatState(Math.max(found.state, since.modseq));
    return answerQueryChanges(request, SUBMISSION_SEARCH, facts, { changed, newQueryState });
  },
};
