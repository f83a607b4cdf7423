import { MessageLinks } from './message-links.ts';
import { mergeBySubject } from './subject-merge.ts';
import type { ThreadFacts, ThreadNode } from './thread-input.ts';

/** THREAD=REFERENCES: by References and In-Reply-To, then by base subject. RFC 5256 3. */
export function threadByReferences(positions: Uint32Array, facts: ThreadFacts): ThreadNode[] {
  const roots = linkedThreads(positions, facts);
  sortSiblings(roots, facts, firstDate);
  const merged = mergeBySubject(roots, facts);
  sortSiblings(merged, facts, firstDate);
  return merged;
}

/** THREAD=REFS: by References and In-Reply-To only, threads by their newest message. draft-ietf-morg-inthread 4. */
export function threadByLinks(positions: Uint32Array, facts: ThreadFacts): ThreadNode[] {
  const roots = linkedThreads(positions, facts);
  sortSiblings(roots, facts, firstDate);
  const newest = new Map(roots.map((root) => [root, newestDate(root, facts)]));
  return roots.sort((a, b) => (newest.get(a) ?? 0) - (newest.get(b) ?? 0) || firstPosition(a) - firstPosition(b));
}

/** Steps 1 to 3. */
function linkedThreads(positions: Uint32Array, facts: ThreadFacts): ThreadNode[] {
  const links = new MessageLinks(facts.ids);
  for (const position of positions) links.add(position, facts);
  return links.threads();
}

/** Steps 4 and 6: sorts the children of every node, then the roots. Iterative, since threads may be deep. */
function sortSiblings(
  roots: ThreadNode[],
  facts: ThreadFacts,
  dateOf: (node: ThreadNode, facts: ThreadFacts) => number,
): void {
  const byDate = (a: ThreadNode, b: ThreadNode): number =>
    dateOf(a, facts) - dateOf(b, facts) || firstPosition(a) - firstPosition(b);
  const open = [...roots];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.children.length > 1) node.children.sort(byDate);
    for (const child of node.children) open.push(child);
  }
  roots.sort(byDate);
}

/** Date of a message; a dummy has that of its first child. Only roots are dummies. */
function firstDate(node: ThreadNode, facts: ThreadFacts): number {
  const position = node.position ?? node.children[0]?.position;
  return position === undefined ? 0 : facts.dateAt(position);
}

function firstPosition(node: ThreadNode): number {
  return node.position ?? node.children[0]?.position ?? 0;
}

function newestDate(root: ThreadNode, facts: ThreadFacts): number {
  let newest = -Infinity;
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.position !== undefined) newest = Math.max(newest, facts.dateAt(node.position));
    for (const child of node.children) open.push(child);
  }
  return newest;
}
