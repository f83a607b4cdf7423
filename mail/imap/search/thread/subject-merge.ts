import type { ThreadFacts, ThreadNode } from './thread-input.ts';

/** A thread in the subject table. */
interface SubjectEntry {
  root: ThreadNode;
  isReply: boolean;
}

/** Gathers threads with the same base subject under one. `roots` are sorted. RFC 5256 3, REFERENCES step 5. */
export function mergeBySubject(roots: readonly ThreadNode[], facts: ThreadFacts): ThreadNode[] {
  const subjects = roots.map((root) => subjectOf(root, facts));
  const table = new Map<string, SubjectEntry>();
  for (const [i, root] of roots.entries()) enter(table, subjects[i] ?? '', { root, isReply: isReply(root, facts) });
  const merged = new Set<ThreadNode>();
  for (const [i, root] of roots.entries()) {
    const subject = subjects[i] ?? '';
    const entry = table.get(subject);
    if (subject === '' || entry === undefined || entry.root === root) merged.add(root);
    else merge(table, subject, { root, isReply: isReply(root, facts) }, merged);
  }
  return [...merged];
}

/** Step 5 (B). */
function enter(table: Map<string, SubjectEntry>, subject: string, current: SubjectEntry): void {
  if (subject === '') return;
  const entry = table.get(subject);
  const isDummy = current.root.position === undefined;
  if (entry === undefined || (entry.root.position !== undefined && (isDummy || (entry.isReply && !current.isReply))))
    table.set(subject, current);
}

/** Step 5 (C): the current thread joins the one of the table. */
function merge(
  table: Map<string, SubjectEntry>,
  subject: string,
  current: SubjectEntry,
  merged: Set<ThreadNode>,
): void {
  const entry = table.get(subject)!;
  const { root } = entry;
  if (root.position === undefined && current.root.position === undefined) {
    for (const child of current.root.children) root.children.push(child);
  } else if (root.position === undefined || (current.isReply && !entry.isReply)) {
    root.children.push(current.root);
  } else {
    const dummy: ThreadNode = { position: undefined, children: [root, current.root] };
    table.set(subject, { root: dummy, isReply: false });
    merged.delete(root);
    merged.add(dummy);
  }
}

/** Base subject of the root, or of the first child of a dummy. Step 5 (A). */
function subjectOf({ position, children }: ThreadNode, facts: ThreadFacts): string {
  const at = position ?? children[0]?.position;
  return at === undefined ? '' : facts.subjectAt(at);
}

function isReply({ position, children }: ThreadNode, facts: ThreadFacts): boolean {
  const at = position ?? children[0]?.position;
  return at !== undefined && facts.isReply(at);
}
