import { readTerms } from '../../message/search-terms.ts';
import { bool, idOrCreation, list, plainObject, type Reader, text, unsigned, utcDate } from '../arguments.ts';
import { realId } from '../created.ts';
import { MethodError } from '../errors.ts';
import { jmapRow } from '../ids.ts';
import type { Access, Call } from '../method.ts';
import { type Condition, conditionsOf, EVERYTHING, type Filter, type TextColumn } from './filter.ts';
import { keyword } from './keyword.ts';

/** Operators inside each other, and operators and objects of conditions together. */
const DEEPEST = 20;
const MOST = 200;
/** Conditions that ask the full-text index. */
const MOST_TEXTS = 20;

/** Reads a filter of Email/query; null and missing let everything through. RFC 8620 5.5, 8621 4.4.1. */
export function readFilter(call: Pick<Call, 'createdIds'>, { account }: Access, value: unknown): Filter {
  if (value === undefined || value === null) return EVERYTHING;
  const budget = { left: MOST };
  const mailbox: Reader<number> = (id, path) =>
    jmapRow('mailbox', account, realId(call, idOrCreation(id, path)) ?? '') ?? 0;
  const conditions = conditionReaders(mailbox);
  const read = (one: unknown, path: string, depth: number): Filter => {
    if (depth > DEEPEST) throw unsupported(`nests deeper than ${DEEPEST} operators`);
    const given = plainObject(one, path);
    if (--budget.left < 0) throw unsupported(`has more than ${MOST} parts`);
    if (Object.hasOwn(given, 'operator')) return operator(given, path, (inner, at) => read(inner, at, depth + 1));
    const of = Object.entries(given).map(([name, asked]) => {
      const reader = conditions.get(name);
      if (reader === undefined) throw unsupported(`has a condition "${name.slice(0, 100)}", which is not known here`);
      return reader(asked, `${path}/${name}`);
    });
    return { op: 'and', of };
  };
  const filter = read(value, 'filter', 1);
  if (conditionsOf(filter).filter(({ test }) => test === 'text').length > MOST_TEXTS) {
    throw unsupported(`searches for more than ${MOST_TEXTS} texts`);
  }
  return filter;
}

function operator(given: Record<string, unknown>, path: string, read: (one: unknown, path: string) => Filter): Filter {
  const names = new Map([
    ['AND', 'and'],
    ['OR', 'or'],
    ['NOT', 'not'],
  ] as const);
  const op = names.get(text(given['operator'], `${path}/operator`) as 'AND');
  if (op === undefined) throw invalid(`${path}/operator`, 'must be AND, OR or NOT');
  const other = Object.keys(given).find((name) => name !== 'operator' && name !== 'conditions');
  if (other !== undefined) throw invalid(`${path}/${other}`, 'is not known here');
  const { conditions } = given;
  if (!Array.isArray(conditions)) throw invalid(`${path}/conditions`, 'must be an array');
  return { op, of: conditions.map((one, i) => read(one, `${path}/conditions/${i}`)) };
}

/** The conditions by their names in the RFC. */
function conditionReaders(mailbox: Reader<number>): ReadonlyMap<string, Reader<Filter>> {
  const inThread =
    (has: 'all' | 'some' | 'none'): Reader<Condition> =>
    (value, path) => ({ test: 'thread-keyword', has, keyword: keyword(value, path) });
  return new Map<string, Reader<Filter>>([
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
    ['hasKeyword', (value, path) => ({ test: 'keyword', keyword: keyword(value, path) })],
    ['notKeyword', (value, path) => ({ op: 'not', of: [{ test: 'keyword', keyword: keyword(value, path) }] })],
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
  (columns: readonly TextColumn[] | null): Reader<Filter> =>
  (value, path) => {
    const asked = text(value, path);
    const terms = readTerms(asked);
    if (terms === undefined) throw unsupported(`searches for too much at "${path}": use fewer words`);
    if (terms.length > 0) return { test: 'text', columns, terms };
    // Nothing to look for is in everything; signs alone are not indexed and so in nothing.
    return asked.trim() === '' ? EVERYTHING : { op: 'or', of: [] };
  };

/** A field name, and what its value has in it. */
const header: Reader<Condition> = (value, path) => {
  const [field = '', asked = null, ...more] = list(text)(value, path);
  if (!/^[\x21-\x39\x3b-\x7e]{1,200}$/.test(field) || more.length > 0) {
    throw invalid(path, 'must be the name of a header field, and perhaps a text to look for');
  }
  if (asked !== null && asked.length > 1000) throw unsupported(`searches for too much at "${path}"`);
  return { test: 'header', field: field.toLowerCase(), text: asked };
};

/** `why` continues "The filter ...". */
function unsupported(why: string): MethodError {
  return new MethodError('unsupportedFilter', `The filter ${why}.`);
}

function invalid(path: string, why: string): MethodError {
  return new MethodError('invalidArguments', `"${path}" ${why}.`, { arguments: [path] });
}
