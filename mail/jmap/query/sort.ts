import { EMAIL_SORTS } from '../account-capabilities.ts';
import { bool, list, nullable, object, optional, plainObject, text } from '../arguments.ts';
import { MethodError } from '../errors.ts';
import { keyword } from './keyword.ts';

/** Properties of an email itself that results can be sorted by. RFC 8621 4.4.2. */
const FIXED = ['receivedAt', 'size', 'from', 'to', 'subject', 'sentAt'] as const;
const BY_KEYWORD = ['hasKeyword', 'allInThreadHaveKeyword', 'someInThreadHaveKeyword'] as const;

/**
 * Texts are compared by their keys of RFC 5051, in which ASCII is as i;ascii-casemap has it; the keys are stored, so what is
 * beyond ASCII is folded in either.
 */
const COLLATIONS: readonly (string | null)[] = [null, 'i;ascii-casemap', 'i;unicode-casemap'];

export type Comparator =
  | { by: (typeof FIXED)[number]; ascending: boolean }
  | { by: (typeof BY_KEYWORD)[number]; ascending: boolean; keyword: string };

/** Never empty. What is equal by all of them is in the order of ids, in the direction of the last. */
export type Order = readonly Comparator[];

const MOST = 20;
const NEWEST_FIRST: Order = [{ by: 'receivedAt', ascending: false }];

/** Reads `sort`; null, missing and empty mean the newest first. RFC 8620 5.5. */
export function readSort(value: unknown): Order {
  if (value === undefined || value === null) return NEWEST_FIRST;
  const order = list(comparator)(value, 'sort');
  if (order.length > MOST) throw unsupported(`has more than ${MOST} comparators`);
  return order.length === 0 ? NEWEST_FIRST : order;
}

function comparator(value: unknown, path: string): Comparator {
  const given = plainObject(value, path);
  const property = text(given['property'], `${path}/property`);
  const by = FIXED.find((name) => name === property);
  const byKeyword = BY_KEYWORD.find((name) => name === property);
  if (by === undefined && byKeyword === undefined) {
    throw unsupported(`names "${property.slice(0, 100)}": ${EMAIL_SORTS.join(', ')} can be sorted by`);
  }
  const shape = { property: text, isAscending: optional(bool, true), collation: nullable(text) };
  const read = object(byKeyword === undefined ? shape : { ...shape, keyword })(given, path);
  if (!COLLATIONS.includes(read.collation))
    throw unsupported('asks for a collation that is not among those of the session');
  const ascending = read.isAscending;
  if (by !== undefined) return { by, ascending };
  return { by: byKeyword ?? 'hasKeyword', ascending, keyword: keyword(given['keyword'], `${path}/keyword`) };
}

/** Whether nothing that it sorts by can change while an email exists. */
export function isFixedOrder(order: Order): boolean {
  return order.every(({ by }) => FIXED.some((name) => name === by));
}

/** The direction in which a walk by receivedAt gives this order, or undefined when it gives another. */
export function walkOrder(order: Order): 'ascending' | 'descending' | undefined {
  const [first] = order;
  if (first?.by !== 'receivedAt' || order.length > 1) return undefined;
  return first.ascending ? 'ascending' : 'descending';
}

/** `why` continues "The sort ...". */
function unsupported(why: string): MethodError {
  return new MethodError('unsupportedSort', `The sort ${why}.`);
}
