/** Longest stretch of work between two turns of the event loop, ms. */
const MAX_STRETCH_MS = 8;

/** When long work of any connection last yielded. */
let yieldedAt = 0;

/** Called between pieces of long work: a promise to await when the event loop is due for other work, else undefined. */
export function yieldToEventLoop(): Promise<void> | undefined {
  if (performance.now() - yieldedAt < MAX_STRETCH_MS) return undefined;
  return new Promise((resolve) => {
    setImmediate(() => {
      yieldedAt = performance.now();
      resolve();
    });
  });
}
