import type { MailboxNode } from '../../store/mailbox-tree.ts';
import { bool, idOrCreation, nullable, plainObject, type Reader, text } from '../arguments.ts';
import { realId } from '../created.ts';
import { MethodError } from '../errors.ts';
import { jmapRow } from '../ids.ts';
import type { Call } from '../method.ts';

/** Tells whether a mailbox is in a result. */
export type MailboxFilter = (node: MailboxNode) => boolean;

const DEEPEST = 20;
const MOST = 200;

/** Reads the filter of Mailbox/query: conditions, and operators over them. RFC 8621 2.3, RFC 8620 5.5. */
export function mailboxFilter(call: Call, account: number): Reader<MailboxFilter> {
  let count = 0;
  const read = (value: unknown, path: string, depth: number): MailboxFilter => {
    if (++count > MOST || depth > DEEPEST) {
      throw new MethodError('unsupportedFilter', `A filter has at most ${MOST} parts and ${DEEPEST} levels.`);
    }
    const given = plainObject(value, path);
    if (!Object.hasOwn(given, 'operator')) return condition(call, account, given, path);
    const { operator, conditions } = given;
    if (!Array.isArray(conditions)) {
      throw new MethodError('invalidArguments', `"${path}/conditions" must be an array.`, { arguments: [path] });
    }
    const parts = conditions.map((one, i) => read(one, `${path}/conditions/${i}`, depth + 1));
    return operate(operator, parts, path);
  };
  return (value, path) => read(value, path, 0);
}

function operate(operator: unknown, parts: readonly MailboxFilter[], path: string): MailboxFilter {
  switch (operator) {
    case 'AND':
      return (node) => parts.every((part) => part(node));
    case 'OR':
      return (node) => parts.some((part) => part(node));
    case 'NOT':
      return (node) => !parts.some((part) => part(node));
    default:
      throw new MethodError('invalidArguments', `"${path}/operator" must be AND, OR or NOT.`, { arguments: [path] });
  }
}

function condition(call: Call, account: number, given: Record<string, unknown>, path: string): MailboxFilter {
  const parts = Object.entries(given).map(([name, value]): MailboxFilter => {
    const at = `${path}/${name}`;
    switch (name) {
      case 'parentId':
        return inParent(call, account, nullable(idOrCreation)(value, at));
      case 'name':
        return named(text(value, at));
      case 'role': {
        const role = nullable(text)(value, at);
        return (node) => node.role === role;
      }
      case 'hasAnyRole': {
        const wanted = bool(value, at);
        return (node) => (node.role !== null) === wanted;
      }
      case 'isSubscribed': {
        const wanted = bool(value, at);
        return (node) => (node.subscribed === 1) === wanted;
      }
      default:
        throw new MethodError('unsupportedFilter', `Mailboxes cannot be filtered by "${name.slice(0, 100)}".`);
    }
  });
  return (node) => parts.every((part) => part(node));
}

function inParent(call: Call, account: number, parent: string | null): MailboxFilter {
  const row = parent === null ? 0 : jmapRow('mailbox', account, realId(call, parent) ?? '');
  return (node) => node.parent === row;
}

/** Contained in the name, whatever the case. */
function named(wanted: string): MailboxFilter {
  const lower = wanted.normalize('NFC').toLowerCase();
  return (node) => node.name.toLowerCase().includes(lower);
}
