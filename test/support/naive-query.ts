import { findTerms, readTerms } from '../../mail/message/search-terms.ts';
import { foldWord, tokensOf } from '../../mail/message/word-tokens.ts';
import { jmapId } from '../../mail/jmap/core/ids.ts';
import type { Plant } from './mail-garden.ts';

type Json = Record<string, unknown>;

/** Email/query over everything, one email after the other: what the real one must answer. */
export function naiveQuery(
  all: readonly Plant[],
  filter: unknown,
  sort: readonly Json[] | null,
  collapseThreads: boolean,
): Plant[] {
  const order = sort ?? [{ property: 'receivedAt', isAscending: false }];
  const found = all.filter((one) => holds(filter as Json | null, one, all)).sort((a, b) => byOrder(order, a, b, all));
  return collapseThreads
    ? found.filter((one, i) => found.findIndex(({ thread }) => thread === one.thread) === i)
    : found;
}

function holds(filter: Json | null, one: Plant, all: readonly Plant[]): boolean {
  if (filter === null) return true;
  const of = filter['conditions'] as Json[];
  switch (filter['operator']) {
    case 'AND':
      return of.every((each) => holds(each, one, all));
    case 'OR':
      return of.some((each) => holds(each, one, all));
    case 'NOT':
      return !of.some((each) => holds(each, one, all));
    default:
      return Object.entries(filter).every(([name, value]) => CONDITIONS[name]?.(value as never, one, all) === true);
  }
}

type Condition = (value: never, one: Plant, all: readonly Plant[]) => boolean;

const thread = (one: Plant, all: readonly Plant[]): Plant[] => all.filter((other) => other.thread === one.thread);
const inMailbox = (one: Plant, id: string): boolean => one.mailboxes.some((row) => jmapId('mailbox', row) === id);

const CONDITIONS: Readonly<Record<string, Condition>> = {
  inMailbox: (id: string, one) => inMailbox(one, id),
  inMailboxOtherThan: (ids: string[], one) => one.mailboxes.some((row) => !ids.includes(jmapId('mailbox', row))),
  before: (at: string, one) => one.receivedAt < Date.parse(at),
  after: (at: string, one) => one.receivedAt >= Date.parse(at),
  minSize: (octets: number, one) => one.size >= octets,
  maxSize: (octets: number, one) => one.size < octets,
  hasKeyword: (name: string, one) => one.keywords.includes(name.toLowerCase()),
  notKeyword: (name: string, one) => !one.keywords.includes(name.toLowerCase()),
  allInThreadHaveKeyword: (name: string, one, all) => thread(one, all).every(({ keywords }) => keywords.includes(name)),
  someInThreadHaveKeyword: (name: string, one, all) => thread(one, all).some(({ keywords }) => keywords.includes(name)),
  noneInThreadHaveKeyword: (name: string, one, all) =>
    !thread(one, all).some(({ keywords }) => keywords.includes(name)),
  hasAttachment: (has: boolean, one) => one.attach === has,
  subject: (text: string, { spec }) => words(text, [spec.subject]),
  from: (text: string, { spec }) => words(text, [spec.from]),
  to: (text: string, { spec }) => words(text, [spec.to]),
  cc: (text: string, { spec }) => words(text, [spec.cc]),
  bcc: (text: string, { spec }) => words(text, [spec.bcc]),
  body: (text: string, { spec }) => words(text, [spec.body, spec.attached?.name, spec.attached?.text]),
  text: (text: string, { spec }) =>
    words(text, [
      spec.subject,
      spec.from,
      spec.to,
      spec.cc,
      spec.bcc,
      spec.body,
      spec.attached?.name,
      spec.attached?.text,
    ]),
  header: ([name, text]: string[], { spec }) => {
    const [field = '', value = ''] = (spec.header ?? '').split(': ');
    return (
      field.toLowerCase() === name?.toLowerCase() && (text === undefined || foldWord(value).includes(foldWord(text)))
    );
  },
};

function words(text: string, fields: readonly (string | undefined)[]): boolean {
  const terms = readTerms(text) ?? [];
  if (terms.length === 0) return text.trim() === '';
  const tokens = fields.map((field) => tokensOf(field ?? ''));
  return terms.every((term) => tokens.some((field) => findTerms([term], field).next().done !== true));
}

function byOrder(order: readonly Json[], a: Plant, b: Plant, all: readonly Plant[]): number {
  for (const comparator of order) {
    const sign = comparator['isAscending'] === false ? -1 : 1;
    const [x, y] = [keyOf(comparator, a, all), keyOf(comparator, b, all)];
    if (x !== y) return x < y ? -sign : sign;
  }
  return order.at(-1)?.['isAscending'] === false ? b.row - a.row : a.row - b.row;
}

function keyOf({ property, keyword }: Json, one: Plant, all: readonly Plant[]): string | number {
  switch (property) {
    case 'receivedAt':
    case 'size':
      return one[property];
    case 'hasKeyword':
    case 'allInThreadHaveKeyword':
    case 'someInThreadHaveKeyword':
      return Number(CONDITIONS[property]?.(keyword as never, one, all));
    default:
      return one.keys[property as keyof Plant['keys']];
  }
}
