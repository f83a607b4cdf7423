import type { SubmissionFacts } from '../../store/jmap-submission.ts';
import { id, list, oneOf, type Reader, utcDate } from '../arguments.ts';
import { jmapId } from '../ids.ts';
import { compare, type Searching } from '../object-query.ts';

type Match = (one: SubmissionFacts) => boolean;

/** A condition that names ids. */
function amongIds(idOf: (one: SubmissionFacts) => string) {
  return (value: unknown, path: string): Match => {
    const ids = new Set(list(id)(value, path));
    return (one) => ids.has(idOf(one));
  };
}

function condition<T>(reader: Reader<T>, is: (one: SubmissionFacts, wanted: T) => boolean) {
  return (value: unknown, path: string): Match => {
    const wanted = reader(value, path);
    return (one) => is(one, wanted);
  };
}

/** Filters and orders of RFC 8621 7.3. */
export const SUBMISSION_SEARCH: Searching<SubmissionFacts> = {
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
    emailId: (a, b) => compare(a.email, b.email),
    threadId: (a, b) => compare(a.thread, b.thread),
    sentAt: (a, b) => compare(a.sendAt, b.sendAt),
  },
};
