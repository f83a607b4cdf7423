import type { FindOrder, FindOutcome } from './find-order.ts';

/** Orders of one mailbox that are kept: clients repeat one or two for each page that they show. */
const MAX_ORDERS = 4;

interface KeptOrder {
  order: FindOrder;
  uids: Uint32Array;
  outcome: FindOutcome;
}

/**
 * The last results of SORT and THREAD in one mailbox. Messages are immutable, so that the same UIDs have the same order,
 * and the same threads.
 */
export class OrderCache {
  /** The last used at the end. */
  readonly #kept: KeptOrder[] = [];

  /** Estimated memory, octets. */
  get octets(): number {
    let sum = 0;
    for (const { order, uids, outcome } of this.#kept) sum += uids.byteLength + octetsOf(order) + octetsOf(outcome);
    return sum;
  }

  /** The result for the UIDs in this order, if it is kept. */
  find(uids: Uint32Array, order: FindOrder): FindOutcome | undefined {
    const at = this.#kept.findIndex((one) => isSameOrder(one.order, order) && isSameList(one.uids, uids));
    const [found] = at < 0 ? [] : this.#kept.splice(at, 1);
    if (found !== undefined) this.#kept.push(found);
    return found && copyOf(found.outcome);
  }

  /** Keeps a result, unless it depends on the relevance of words. */
  keep(uids: Uint32Array, order: FindOrder, outcome: FindOutcome): void {
    if (order.kind === 'sort' && order.scores.size > 0) return;
    this.#kept.push({ order: copyOf(order), uids: uids.slice(), outcome: copyOf(outcome) });
    if (this.#kept.length > MAX_ORDERS) this.#kept.shift();
  }
}

/** A copy with lists of its own: callers may change theirs, and views append to the list of known UIDs. */
function copyOf<T extends FindOrder | FindOutcome>(value: T): T {
  if (value.kind === 'found') return { ...value, uids: value.uids.slice() };
  return value.kind === 'thread' ? { ...value, known: value.known?.slice() } : value;
}

function octetsOf(value: FindOrder | FindOutcome): number {
  if (value.kind === 'threads') return value.text.length;
  if (value.kind === 'found') return value.uids.byteLength;
  return value.kind === 'thread' ? (value.known?.byteLength ?? 0) : 0;
}

function isSameOrder(a: FindOrder, b: FindOrder): boolean {
  if (a.kind === 'thread') return b.kind === 'thread' && a.algorithm === b.algorithm && isSameList(a.known, b.known);
  if (b.kind === 'thread' || b.scores.size > 0 || a.keys.length !== b.keys.length) return false;
  return a.keys.every((key, i) => key.by === b.keys[i]?.by && key.reverse === b.keys[i].reverse);
}

function isSameList(a: Uint32Array | undefined, b: Uint32Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && Buffer.compare(octetsIn(a), octetsIn(b)) === 0;
}

/** The list as octets, which are compared without a call for each number. */
function octetsIn({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
