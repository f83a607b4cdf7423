import { type EmailFacts, readEmailFacts, readEmailRowFacts } from './email-facts.ts';
import { type EmailCondition, type EmailFilter, isOperator, necessaryConditions } from './email-filter.ts';
import { type EmailComparator, type EmailOrder, receivedAtDirection } from './email-sort.ts';
import { compileFilter, matchKeyword, matchThreadKeyword, textGroups } from './filter-matcher.ts';
import type { EmailQueryContext } from './query-context.ts';
import { readVisibleMailboxes, type ReceivedRange, scanByReceivedAt } from './received-scan.ts';
import { TextMatcher } from './text-matcher.ts';

/** Cost of starting a scan in a mailbox, in emails. */
const MAILBOX_START_COST = 10;

/**
 * Yields the matching emails in the requested order, page by page. A sort by receivedAt reads only as many as the caller
 * takes; other sorts read all first.
 */
export async function* matchingEmails(
  context: EmailQueryContext,
  filter: EmailFilter,
  order: EmailOrder,
): AsyncGenerator<readonly EmailFacts[], void> {
  const direction = receivedAtDirection(order);
  const found = await findRareMatches(context, filter);
  if (found !== undefined) {
    yield await sortEmails(context, order, found);
    return;
  }
  if (direction !== undefined) {
    yield* scanMatching(context, filter, direction);
    return;
  }
  const all: EmailFacts[] = [];
  for await (const page of scanMatching(context, filter, 'descending')) for (const one of page) all.push(one);
  yield await sortEmails(context, order, all);
}

/** Reads only the full-text hits if few emails match the words. */
async function findRareMatches(
  context: EmailQueryContext,
  filter: EmailFilter,
): Promise<readonly EmailFacts[] | undefined> {
  const groups = textGroups([filter]);
  const ids = groups.length === 0 ? undefined : await new TextMatcher(context, groups).rare();
  if (ids === undefined) return undefined;
  context.charge(ids.length);
  return compileFilter(
    context,
    without(filter, ({ test }) => test === 'text'),
  )(await readEmailFacts(context, ids));
}

async function* scanMatching(
  context: EmailQueryContext,
  filter: EmailFilter,
  direction: 'ascending' | 'descending',
): AsyncGenerator<readonly EmailFacts[], void> {
  const conditions = necessaryConditions(filter);
  const inside = conditions.find((one) => one.test === 'in-mailbox');
  const all = await readVisibleMailboxes(context);
  const mailboxes = inside === undefined ? all : all.filter((mailbox) => mailbox === inside.mailbox);
  context.charge(MAILBOX_START_COST * mailboxes.length);
  const test = compileFilter(context, inside === undefined ? filter : without(filter, (one) => one === inside));
  for await (const page of scanByReceivedAt(context.rx, mailboxes, direction, receivedRangeOf(conditions))) {
    context.charge(page.length);
    yield await test(page);
  }
}

function receivedRangeOf(conditions: readonly EmailCondition[]): ReceivedRange {
  let [after, before] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  for (const one of conditions) {
    if (one.test === 'after') after = Math.max(after, one.at);
    if (one.test === 'before') before = Math.min(before, one.at);
  }
  return { after, before };
}

/** Removes necessary conditions that are checked elsewhere. */
function without(filter: EmailFilter, seen: (condition: EmailCondition) => boolean): EmailFilter {
  if (!isOperator(filter)) return seen(filter) ? { op: 'and', of: [] } : filter;
  return filter.op === 'and' ? { op: 'and', of: filter.of.map((one) => without(one, seen)) } : filter;
}

type Key = (facts: EmailFacts) => number | string;

/** Sorts emails. Ties are sorted by id, in the direction of the last comparator. */
async function sortEmails(
  context: EmailQueryContext,
  order: EmailOrder,
  all: readonly EmailFacts[],
): Promise<EmailFacts[]> {
  const keys: { of: Key; sign: number }[] = [];
  for (const one of order) keys.push({ of: await keyOf(context, one, all), sign: one.ascending ? 1 : -1 });
  const lastSign = keys.at(-1)?.sign ?? 1;
  const rows = all.map((facts) => ({ facts, values: keys.map(({ of }) => of(facts)) }));
  rows.sort((a, b) => {
    for (const [i, { sign }] of keys.entries()) {
      const difference = compare(a.values[i] ?? 0, b.values[i] ?? 0);
      if (difference !== 0) return sign * difference;
    }
    return lastSign * (a.facts.id - b.facts.id);
  });
  return rows.map(({ facts }) => facts);
}

function compare(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function keyOf(
  context: EmailQueryContext,
  comparator: EmailComparator,
  all: readonly EmailFacts[],
): Promise<Key> {
  switch (comparator.by) {
    case 'receivedAt':
      return ({ receivedAt }) => receivedAt;
    case 'hasKeyword':
      return flag(await matchKeyword(context, comparator.keyword, all));
    case 'allInThreadHaveKeyword':
      return flag(await matchThreadKeyword(context, 'all', comparator.keyword, all));
    case 'someInThreadHaveKeyword':
      return flag(await matchThreadKeyword(context, 'some', comparator.keyword, all));
    case 'from':
    case 'sentAt':
    case 'size':
    case 'subject':
    case 'to': {
      await readEmailRowFacts(context.rx, all);
      const { by } = comparator;
      return ({ row }) => row?.[by] ?? '';
    }
  }
}

/** Sorts false before true. RFC 8621 4.4.2. */
const flag =
  (holds: (facts: EmailFacts) => boolean): Key =>
  (facts) =>
    Number(holds(facts));
