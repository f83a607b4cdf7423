import { readTerms } from '../../message/search-terms.ts';
import {
  bool,
  idOrCreation,
  list,
  plainObject,
  type ArgumentReader,
  text,
  unsigned,
  utcDate,
} from '../core/arguments.ts';
import { resolveCreationId } from '../core/access.ts';
import { MethodError } from '../core/errors.ts';
import { jmapRow } from '../core/ids.ts';
import type { Access, MethodCall } from '../core/method.ts';
import { type EmailCondition, conditionsOf, MATCH_ALL, type EmailFilter, type TextColumn } from './email-filter.ts';
import { keywordArgument } from './keyword-argument.ts';

/** Limits for nesting, and for operators and condition objects in total. */
const MAX_FILTER_DEPTH = 20;
const MAX_FILTER_PARTS = 200;
/** Maximum conditions on the full-text index. */
const MAX_TEXT_CONDITIONS = 20;

/** Reads a filter of Email/query; null and missing match all. RFC 8620 5.5, 8621 4.4.1. */
export function readFilter(call: Pick<MethodCall, 'createdIds'>, { account }: Access, value: unknown): EmailFilter {
  if (value === undefined || value === null) return MATCH_ALL;
  const budget = { left: MAX_FILTER_PARTS };
  const mailbox: ArgumentReader<number> = (id, path) =>
    jmapRow('mailbox', account, resolveCreationId(call, idOrCreation(id, path)) ?? '') ?? 0;
  const conditions = conditionReaders(mailbox);
  const read = (one: unknown, path: string, depth: number): EmailFilter => {
    if (depth > MAX_FILTER_DEPTH) throw unsupported(`nests deeper than ${MAX_FILTER_DEPTH} operators`);
    const given = plainObject(one, path);
    if (--budget.left < 0) throw unsupported(`has more than ${MAX_FILTER_PARTS} parts`);
    if (Object.hasOwn(given, 'operator')) return operator(given, path, (inner, at) => read(inner, at, depth + 1));
    const of = Object.entries(given).map(([name, input]) => {
      const reader = conditions.get(name);
      if (reader === undefined) throw unsupported(`has an unknown condition "${name.slice(0, 100)}"`);
      return reader(input, `${path}/${name}`);
    });
    return { op: 'and', of };
  };
  const filter = read(value, 'filter', 1);
  if (conditionsOf(filter).filter(({ test }) => test === 'text').length > MAX_TEXT_CONDITIONS) {
    throw unsupported(`searches for more than ${MAX_TEXT_CONDITIONS} texts`);
  }
  return filter;
}

function operator(
  given: Record<string, unknown>,
  path: string,
  read: (one: unknown, path: string) => EmailFilter,
): EmailFilter {
  const names = new Map([
    ['AND', 'and'],
    ['OR', 'or'],
    ['NOT', 'not'],
  ] as const);
  const op = names.get(text(given['operator'], `${path}/operator`) as 'AND');
  if (op === undefined) throw invalid(`${path}/operator`, 'must be AND, OR or NOT');
  const other = Object.keys(given).find((name) => name !== 'operator' && name !== 'conditions');
  if (other !== undefined) throw invalid(`${path}/${other}`, 'is not a known property');
  const { conditions } = given;
  if (!Array.isArray(conditions)) throw invalid(`${path}/conditions`, 'must be an array');
  return { op, of: conditions.map((one, i) => read(one, `${path}/conditions/${i}`)) };
}

/** Argument readers by condition name. RFC 8621 4.4.1. */
function conditionReaders(mailbox: ArgumentReader<number>): ReadonlyMap<string, ArgumentReader<EmailFilter>> {
  const inThread =
    (has: 'all' | 'some' | 'none'): ArgumentReader<EmailCondition> =>
    (value, path) => ({ test: 'thread-keyword', has, keyword: keywordArgument(value, path) });
  return new Map<string, ArgumentReader<EmailFilter>>([
    ['inMailbox', (value, path) => ({ test: 'in-mailbox', mailbox: mailbox(value, path) })],
    [
      'inMailboxOtherThan',
      (value, path) => ({ test: 'in-other-than', mailboxes: new Set(list(mailbox)(value, path)) }),
    ],
    ['before', (value, path) => ({ test: 'before', at: utcDate(value, path) })],
    ['after', (value, path) => ({ test: 'after', at: utcDate(value, path) })],
    ['minSize', (value, path) => ({ test: 'min-size', octets: unsigned(value, path) })],
    ['maxSize', (value, path) => ({ test: 'max-size', octets: unsigned(value, path) })],
    ['allInThreadHaveKeyword', inThread('all')],
    ['someInThreadHaveKeyword', inThread('some')],
    ['noneInThreadHaveKeyword', inThread('none')],
    ['hasKeyword', (value, path) => ({ test: 'keyword', keyword: keywordArgument(value, path) })],
    ['notKeyword', (value, path) => ({ op: 'not', of: [{ test: 'keyword', keyword: keywordArgument(value, path) }] })],
    ['hasAttachment', (value, path) => ({ test: 'attachment', has: bool(value, path) })],
    ['text', words(null)],
    ['from', words(['from_'])],
    ['to', words(['to_'])],
    ['cc', words(['cc_'])],
    ['bcc', words(['bcc_'])],
    ['subject', words(['subject'])],
    ['body', words(['body', 'attach'])],
    ['header', header],
  ]);
}

const words =
  (columns: readonly TextColumn[] | null): ArgumentReader<EmailFilter> =>
  (value, path) => {
    const input = text(value, path);
    const terms = readTerms(input);
    if (terms === undefined) throw unsupported(`has too many words at "${path}"`);
    if (terms.length > 0) return { test: 'text', columns, terms };
    // An empty text matches all; punctuation alone is not indexed and matches nothing.
    return input.trim() === '' ? MATCH_ALL : { op: 'or', of: [] };
  };

/** Reads a field name and an optional text in its value. */
const header: ArgumentReader<EmailCondition> = (value, path) => {
  const [field = '', input = null, ...more] = list(text)(value, path);
  if (!/^[\x21-\x39\x3b-\x7e]{1,200}$/.test(field) || more.length > 0) {
    throw invalid(path, 'must be a header field name and an optional text');
  }
  if (input !== null && input.length > 1000) throw unsupported(`has a text of more than 1,000 characters at "${path}"`);
  return { test: 'header', field: field.toLowerCase(), text: input };
};

/** `why` continues "The filter ...". */
function unsupported(why: string): MethodError {
  return new MethodError('unsupportedFilter', `The filter ${why}.`);
}

function invalid(path: string, why: string): MethodError {
  return new MethodError('invalidArguments', `"${path}" ${why}.`, { arguments: [path] });
}
