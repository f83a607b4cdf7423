import type { MailboxNode } from '../../store/mailbox-tree.ts';
import { bool, nullable, object, optional, type Reader, text } from '../arguments.ts';
import { MethodError } from '../errors.ts';

/** Which of two mailboxes comes first: negative, the first one. Never 0 for two. */
export type MailboxOrder = (a: MailboxNode, b: MailboxNode) => number;

const MOST = 10;
const COLLATIONS: readonly (string | null)[] = [null, 'i;ascii-casemap', 'i;unicode-casemap'];

/** Reads the sort of Mailbox/query; what is equal by it comes in the order of ids. RFC 8621 2.3, RFC 8620 5.5. */
export const mailboxOrder: Reader<MailboxOrder> = (value, path) => {
  if (!Array.isArray(value)) throw new MethodError('invalidArguments', `"${path}" must be an array.`);
  if (value.length > MOST) throw new MethodError('unsupportedSort', `At most ${MOST} properties sort a result.`);
  const orders = value.map((one, i) => comparator(one, `${path}/${i}`));
  return (a, b) => {
    for (const order of orders) {
      const which = order(a, b);
      if (which !== 0) return which;
    }
    return a.id - b.id;
  };
};

const COMPARATOR = object({ property: text, isAscending: optional(bool, true), collation: nullable(text) });

function comparator(value: unknown, path: string): MailboxOrder {
  const { property, isAscending, collation } = COMPARATOR(value, path);
  if (!COLLATIONS.includes(collation))
    throw new MethodError('unsupportedSort', `There is no collation "${collation}".`);
  const order = orderBy(property);
  return isAscending ? order : (a, b) => order(b, a);
}

function orderBy(property: string): MailboxOrder {
  switch (property) {
    case 'name':
      return (a, b) => compare(a.name.toLowerCase(), b.name.toLowerCase());
    case 'sortOrder':
      return (a, b) => a.sortOrder - b.sortOrder;
    case 'parentId':
      return (a, b) => a.parent - b.parent;
    default:
      throw new MethodError('unsupportedSort', `Mailboxes cannot be sorted by "${property.slice(0, 100)}".`);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
