import { bool, list, nullable, object, optional, plainObject, text } from '../core/arguments.ts';
import { MethodError } from '../core/errors.ts';
import { keywordArgument } from './keyword-argument.ts';

/** Sort properties that never change for an email. RFC 8621 4.4.2. */
const FIXED = ['receivedAt', 'sentAt', 'size', 'from', 'to', 'subject'] as const;
const BY_KEYWORD = ['hasKeyword', 'allInThreadHaveKeyword', 'someInThreadHaveKeyword'] as const;
/** Sort properties of Email/query. RFC 8621 4.4.2. */
export const EMAIL_SORTS = [...FIXED, ...BY_KEYWORD];

/**
 * Texts are compared by stored keys of RFC 5051, which equal i;ascii-casemap for ASCII; non-ASCII is folded in both.
 */
const COLLATIONS: readonly (string | null)[] = [null, 'i;ascii-casemap', 'i;unicode-casemap'];

export type EmailComparator =
  | { by: (typeof FIXED)[number]; ascending: boolean }
  | { by: (typeof BY_KEYWORD)[number]; ascending: boolean; keyword: string };

/** Never empty. Ties are sorted by id, in the direction of the last comparator. */
export type EmailOrder = readonly EmailComparator[];

const MAX_COMPARATORS = 20;
const NEWEST_FIRST: EmailOrder = [{ by: 'receivedAt', ascending: false }];

/** Reads `sort`; null, missing and empty mean newest first. RFC 8620 5.5. */
export function readSort(value: unknown): EmailOrder {
  if (value === undefined || value === null) return NEWEST_FIRST;
  const order = list(comparator)(value, 'sort');
  if (order.length > MAX_COMPARATORS) throw unsupported(`has more than ${MAX_COMPARATORS} comparators`);
  return order.length === 0 ? NEWEST_FIRST : order;
}

function comparator(value: unknown, path: string): EmailComparator {
  const given = plainObject(value, path);
  const property = text(given['property'], `${path}/property`);
  const by = FIXED.find((name) => name === property);
  const byKeyword = BY_KEYWORD.find((name) => name === property);
  if (by === undefined && byKeyword === undefined) {
    throw unsupported(`has an unsupported property "${property.slice(0, 100)}". Supported: ${EMAIL_SORTS.join(', ')}`);
  }
  const shape = { property: text, isAscending: optional(bool, true), collation: nullable(text) };
  const read = object(byKeyword === undefined ? shape : { ...shape, keyword: keywordArgument })(given, path);
  if (!COLLATIONS.includes(read.collation)) throw unsupported('has a collation that the session does not list');
  const ascending = read.isAscending;
  if (by !== undefined) return { by, ascending };
  return { by: byKeyword ?? 'hasKeyword', ascending, keyword: keywordArgument(given['keyword'], `${path}/keyword`) };
}

/** Checks that all sort properties are immutable. */
export function isFixedOrder(order: EmailOrder): boolean {
  return order.every(({ by }) => FIXED.some((name) => name === by));
}

/** Direction of a sort by receivedAt alone; undefined for other sorts. */
export function receivedAtDirection(order: EmailOrder): 'ascending' | 'descending' | undefined {
  const [first] = order;
  if (first?.by !== 'receivedAt' || order.length > 1) return undefined;
  return first.ascending ? 'ascending' : 'descending';
}

/** `why` continues "The sort ...". */
function unsupported(why: string): MethodError {
  return new MethodError('unsupportedSort', `The sort ${why}.`);
}
