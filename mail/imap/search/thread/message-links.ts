import type { ThreadFacts, ThreadNode } from './thread-input.ts';

const NONE = -1;
/** Ancestors that are looked at for a loop; a longer chain is not extended, so that hostile chains stay linear. */
const MAX_DEPTH = 5_000;

/** Parent links between Message-IDs, and the messages that have them. RFC 5256 3, REFERENCES steps 1 to 3. */
export class MessageLinks {
  #parents: Int32Array;
  /** Position of the message by id, or none. */
  #messages: Int32Array;
  #length: number;

  /** `ids`: number of different Message-IDs. */
  constructor(ids: number) {
    this.#length = ids;
    this.#parents = new Int32Array(ids + 64).fill(NONE);
    this.#messages = new Int32Array(ids + 64).fill(NONE);
  }

  /** Adds the next message. Step 1. */
  add(position: number, facts: ThreadFacts): void {
    const own = facts.idAt(position);
    // A message without an id, or with that of another one, gets an id of its own.
    const id = own < 0 || this.#messages[own] !== NONE ? this.#newId() : own;
    this.#messages[id] = position;
    let parent = NONE;
    for (const reference of facts.referencesAt(position)) {
      if (parent !== NONE && this.#parents[reference] === NONE) this.#link(reference, parent);
      parent = reference;
    }
    // Step 1 (B): an earlier link came from a truncated References field.
    this.#parents[id] = NONE;
    if (parent !== NONE) this.#link(id, parent);
  }

  /** The threads without pruned ids. Steps 2 and 3. */
  threads(): ThreadNode[] {
    const nodes: (ThreadNode | undefined)[] = [];
    const nodeOf = (id: number): ThreadNode => {
      const position = this.#messages[id] ?? NONE;
      return (nodes[id] ??= { position: position === NONE ? undefined : position, children: [] });
    };
    const roots = new Set<ThreadNode>();
    for (let id = 0; id < this.#length; id++) {
      if (this.#messages[id] === NONE) continue;
      const above = this.#shownParent(id);
      if (above === NONE) roots.add(nodeOf(id));
      else {
        nodeOf(above).children.push(nodeOf(id));
        if (this.#messages[above] === NONE) roots.add(nodeOf(above));
      }
    }
    // Step 3 (B): a dummy with one child is replaced by it.
    return [...roots].map((root) =>
      root.position === undefined && root.children.length === 1 ? root.children[0]! : root,
    );
  }

  /** The nearest ancestor with a message, else the topmost one; shortens the way for the next descendant. */
  #shownParent(id: number): number {
    const parents = this.#parents;
    let above = parents[id] ?? NONE;
    while (above !== NONE && this.#messages[above] === NONE && parents[above] !== NONE) above = parents[above]!;
    for (let at = parents[id] ?? NONE; at !== NONE && at !== above && this.#messages[at] === NONE;) {
      const next = parents[at] ?? NONE;
      parents[at] = above;
      at = next;
    }
    return above;
  }

  /** Makes `parent` the parent, unless that would be a loop. */
  #link(id: number, parent: number): void {
    let depth = 0;
    for (let at = parent; at !== NONE; at = this.#parents[at] ?? NONE) if (at === id || ++depth > MAX_DEPTH) return;
    this.#parents[id] = parent;
  }

  #newId(): number {
    if (this.#length === this.#parents.length) {
      this.#parents = enlarged(this.#parents);
      this.#messages = enlarged(this.#messages);
    }
    return this.#length++;
  }
}

function enlarged(from: Int32Array): Int32Array {
  const to = new Int32Array(from.length * 2).fill(NONE);
  to.set(from);
  return to;
}
