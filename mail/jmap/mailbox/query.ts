import type { MailboxNode } from '../../store/mailbox-tree.ts';
import { bool, nullable, optional } from '../arguments.ts';
import type { Call } from '../method.ts';
import { access, readAccess } from '../access.ts';
import { mailboxFilter, type MailboxFilter } from './filter.ts';
import { mailboxOrder, type MailboxOrder } from './sort.ts';

/** What decides about the result of Mailbox/query and of Mailbox/queryChanges. RFC 8621 2.3. */
export interface MailboxQuery {
  filter: MailboxFilter | null;
  sort: MailboxOrder | null;
  sortAsTree: boolean;
  filterAsTree: boolean;
}

/** Readers of the arguments that both methods have. */
export function mailboxQueryShape(call: Call, args: Record<string, unknown>) {
  const { account } = readAccess(call, args['accountId']);
  return {
    accountId: access(call),
    filter: nullable(mailboxFilter(call, account)),
    sort: nullable(mailboxOrder),
    sortAsTree: optional(bool, false),
    filterAsTree: optional(bool, false),
  };
}

/** The mailboxes that match, in their order. */
export function runMailboxQuery(asked: MailboxQuery, nodes: readonly MailboxNode[]): MailboxNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const fits = asked.filter ?? ((): boolean => true);
  const own = new Set(nodes.filter((node) => fits(node)).map((node) => node.id));
  const matches = asked.filterAsTree
    ? (node: MailboxNode): boolean => path(node, byId).every((one) => own.has(one.id))
    : (node: MailboxNode): boolean => own.has(node.id);
  const order = asked.sort ?? ((a, b): number => a.id - b.id);
  const found = nodes.filter(matches);
  return asked.sortAsTree ? sortedAsTree(found, byId, order) : found.toSorted(order);
}

/** The mailbox and those above it, from the top down. */
function path(node: MailboxNode, byId: ReadonlyMap<number, MailboxNode>): MailboxNode[] {
  const found: MailboxNode[] = [];
  for (let at: MailboxNode | undefined = node; at !== undefined && found.length < 100; at = byId.get(at.parent)) {
    found.unshift(at);
  }
  return found;
}

/** Compares two by their nearest ancestors that are siblings; who is above the other comes first. */
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

/** Those of `changed`, and all below them, whose place in a tree may have moved with theirs. */
export function withDescendants(changed: ReadonlySet<number>, nodes: readonly MailboxNode[]): Set<number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return new Set(nodes.filter((node) => path(node, byId).some((one) => changed.has(one.id))).map((node) => node.id));
}
