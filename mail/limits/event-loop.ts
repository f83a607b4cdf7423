import { type QueueHolder, TurnQueue } from './turn-queue.ts';

/** Longest stretch of work between two turns of the event loop, ms. */
const MAX_STRETCH_MS = 8;
/** Holder of work that belongs to no account. */
const BOX = 'box';

/** Work that gave way; holders take turns. */
const waiting = new TurnQueue<() => void>();
/** When long work of any connection last yielded. */
let yieldedAt = 0;

/**
 * Called between pieces of long work: a promise to await when the event loop is due for other work, else undefined. One
 * piece goes on in each iteration of the loop, so that sockets are served between two of them however much work waits;
 * `holder`: the account or tenant that it is for.
 */
export function yieldToEventLoop(holder: QueueHolder = BOX): Promise<void> | undefined {
  if (performance.now() - yieldedAt < MAX_STRETCH_MS) return undefined;
  return new Promise((resolve) => {
    if (waiting.size === 0) setImmediate(goOn);
    waiting.push(holder, resolve);
  });
}

function goOn(): void {
  yieldedAt = performance.now();
  waiting.shift()?.();
  if (waiting.size > 0) setImmediate(goOn);
}
