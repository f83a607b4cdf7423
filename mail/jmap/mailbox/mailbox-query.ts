import { mailboxChanges, type MailboxNode, mailboxTree } from '../../store/mailbox/mailbox-tree.ts';
import { sharedMailboxState } from '../../store/mailbox/shared-account.ts';
import { access, readAccess, resolveCreationId } from '../core/access.ts';
import {
  type ArgumentReader,
  bool,
  id,
  idOrCreation,
  nullable,
  object,
  optional,
  plainObject,
  text,
  unsigned,
} from '../core/arguments.ts';
import { MAIL } from '../core/capabilities.ts';
import { MethodError } from '../core/errors.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { JmapMethod, MethodCall } from '../core/method.ts';
import { sharedPart } from '../core/shared-accounts.ts';
import { answerWindow, WINDOW } from '../standard/object-query.ts';
import { sharedMailboxNodes } from './shared-mailboxes.ts';
import { cannotCalculate, formatState, readState } from '../standard/standard-changes.ts';

/** Mailbox/query. RFC 8621 2.3. */
export const mailboxQuery: JmapMethod = {
  name: 'Mailbox/query',
  capability: MAIL,
  canShare: true,
  async run(call, args) {
    const request = object({ ...mailboxQueryShape(call, args), ...WINDOW })(args, '');
    const shared = sharedPart(call, request.accountId.account);
    const { state, nodes } = await readNodes(call, request.accountId.account);
    const all = runMailboxQuery(request, nodes).map((node) => jmapId('mailbox', node.id));
    return {
      accountId: args['accountId'],
      queryState: state,
      canCalculateChanges: shared === undefined,
      ...answerWindow(request, all),
    };
  },
};

async function readNodes(call: MethodCall, account: number): Promise<{ state: string; nodes: MailboxNode[] }> {
  const shared = sharedPart(call, account);
  if (shared === undefined) {
    const { state, nodes } = await call.context.store.read(mailboxTree, { account, ids: null });
    return { state: formatState(state), nodes };
  }
  const found = await sharedMailboxNodes(call.context, shared);
  return { state: sharedMailboxState(shared), nodes: found.map(({ node }) => node) };
}

/** Maximum changes that are computed one by one. */
const MAX_CHANGES = 5_000;

/**
 * Mailbox/queryChanges. RFC 8621 2.4. A rename can change filter and sort, so `upToId` is ignored (RFC 8620 5.6), and
 * every changed mailbox is reported as removed and, if it matches, as added.
 */
export const mailboxQueryChanges: JmapMethod = {
  name: 'Mailbox/queryChanges',
  capability: MAIL,
  canShare: true,
  async run(call, args) {
    const request = object({
      ...mailboxQueryShape(call, args),
      sinceQueryState: text,
      maxChanges: nullable(unsigned),
      upToId: nullable(id),
      calculateTotal: optional(bool, false),
    })(args, '');
    if (sharedPart(call, request.accountId.account) !== undefined) throw cannotCalculate('is that of a shared account');
    const since = readState(request.sinceQueryState);
    if (since === undefined || Number.isFinite(since.row)) throw cannotCalculate('was not issued by a query');
    const { account } = request.accountId;
    const { store } = call.context;
    const { state, nodes } = await store.read(mailboxTree, { account, ids: null });
    const { changes } = await store.read(mailboxChanges, { account, ...since, limit: MAX_CHANGES });
    if (since.modseq > state) throw cannotCalculate('was not issued for this account');
    if (changes.length === MAX_CHANGES) throw cannotCalculate('is too old');
    const real = changes.filter((one) => one.modseq > since.modseq);
    const moved = withDescendants(new Set(real.map((one) => one.id)), nodes);
    const result = runMailboxQuery(request, nodes);
    const added = result.flatMap((node, index) =>
      moved.has(node.id) ? [{ id: jmapId('mailbox', node.id), index }] : [],
    );
    const old = new Set([...real.filter((one) => one.createdModseq <= since.modseq).map((one) => one.id), ...moved]);
    const removed = [...old].map((one) => jmapId('mailbox', one));
    if (request.maxChanges !== null && removed.length + added.length > request.maxChanges) {
      throw new MethodError('tooManyChanges', 'More changes than "maxChanges" allows. Run the query again.');
    }
    return {
      accountId: args['accountId'],
      oldQueryState: request.sinceQueryState,
      newQueryState: formatState(state),
      ...(request.calculateTotal && { total: result.length }),
      removed,
      added,
    };
  },
};

/** Arguments that determine the result of Mailbox/query. RFC 8621 2.3. */
interface MailboxQuery {
  filter: MailboxFilter | null;
  sort: MailboxOrder | null;
  sortAsTree: boolean;
  filterAsTree: boolean;
}

/** Readers of the arguments that Mailbox/query and Mailbox/queryChanges share. */
function mailboxQueryShape(call: MethodCall, args: Record<string, unknown>) {
  const { account } = readAccess(call, args['accountId']);
  return {
    accountId: access(call),
    filter: nullable(mailboxFilter(call, account)),
    sort: nullable(mailboxOrder),
    sortAsTree: optional(bool, false),
    filterAsTree: optional(bool, false),
  };
}

/** The matching mailboxes, sorted. */
function runMailboxQuery(request: MailboxQuery, nodes: readonly MailboxNode[]): MailboxNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const fits = request.filter ?? ((): boolean => true);
  const own = new Set(nodes.filter((node) => fits(node)).map((node) => node.id));
  const matches = request.filterAsTree
    ? (node: MailboxNode): boolean => path(node, byId).every((one) => own.has(one.id))
    : (node: MailboxNode): boolean => own.has(node.id);
  const order = request.sort ?? ((a, b): number => a.id - b.id);
  const found = nodes.filter(matches);
  return request.sortAsTree ? sortedAsTree(found, byId, order) : found.toSorted(order);
}

/** The mailbox and those above it, from the top down. */
function path(node: MailboxNode, byId: ReadonlyMap<number, MailboxNode>): MailboxNode[] {
  const found: MailboxNode[] = [];
  for (let at: MailboxNode | undefined = node; at !== undefined && found.length < 100; at = byId.get(at.parent)) {
    found.unshift(at);
  }
  return found;
}

/** Compares mailboxes by their nearest sibling ancestors; an ancestor precedes its descendants. */
function sortedAsTree(
  found: readonly MailboxNode[],
  byId: ReadonlyMap<number, MailboxNode>,
  order: MailboxOrder,
): MailboxNode[] {
  const paths = new Map(found.map((node) => [node.id, path(node, byId)]));
  return found.toSorted((a, b) => {
    const [left = [], right = []] = [paths.get(a.id), paths.get(b.id)];
    const fork = left.findIndex((one, level) => one !== right[level]);
    const [one, other] = [left[fork], right[fork]];
    return one === undefined || other === undefined ? left.length - right.length : order(one, other);
  });
}

/** The changed mailboxes and their descendants, whose position in the tree may have moved. */
function withDescendants(changed: ReadonlySet<number>, nodes: readonly MailboxNode[]): Set<number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return new Set(nodes.filter((node) => path(node, byId).some((one) => changed.has(one.id))).map((node) => node.id));
}

/** Checks whether a mailbox matches. */
type MailboxFilter = (node: MailboxNode) => boolean;

const MAX_FILTER_DEPTH = 20;
const MAX_FILTER_PARTS = 200;

/** Reads the filter of Mailbox/query: conditions, and operators over them. RFC 8621 2.3, RFC 8620 5.5. */
function mailboxFilter(call: MethodCall, account: number): ArgumentReader<MailboxFilter> {
  let count = 0;
  const read = (value: unknown, path: string, depth: number): MailboxFilter => {
    if (++count > MAX_FILTER_PARTS || depth > MAX_FILTER_DEPTH) {
      throw new MethodError(
        'unsupportedFilter',
        `A filter can have at most ${MAX_FILTER_PARTS} parts and ${MAX_FILTER_DEPTH} levels.`,
      );
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

function condition(call: MethodCall, account: number, given: Record<string, unknown>, path: string): MailboxFilter {
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

function inParent(call: MethodCall, account: number, parent: string | null): MailboxFilter {
  const row = parent === null ? 0 : jmapRow('mailbox', account, resolveCreationId(call, parent) ?? '');
  return (node) => node.parent === row;
}

/** Matches a case-insensitive substring of the name. */
function named(wanted: string): MailboxFilter {
  const lower = wanted.normalize('NFC').toLowerCase();
  return (node) => node.name.toLowerCase().includes(lower);
}

/** Compares two mailboxes; never 0 for different ones. */
type MailboxOrder = (a: MailboxNode, b: MailboxNode) => number;

const MAX_COMPARATORS = 10;
const COLLATIONS: readonly (string | null)[] = [null, 'i;ascii-casemap', 'i;unicode-casemap'];

/** Reads the sort of Mailbox/query; ties are sorted by id. RFC 8621 2.3, RFC 8620 5.5. */
const mailboxOrder: ArgumentReader<MailboxOrder> = (value, path) => {
  if (!Array.isArray(value)) throw new MethodError('invalidArguments', `"${path}" must be an array.`);
  if (value.length > MAX_COMPARATORS)
    throw new MethodError('unsupportedSort', `At most ${MAX_COMPARATORS} sort properties are allowed.`);
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
    throw new MethodError('unsupportedSort', `Unsupported collation "${collation}".`);
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
