/** Longest stretch of work between two turns of the event loop, in ms. */
const STRETCH = 8;

/** When long work, of whichever session, last let everybody else have a turn. */
let turned = 0;

/** Asked between pieces of long work; await what it answers. */
export function breathe(): Promise<void> | undefined {
  if (performance.now() - turned < STRETCH) return undefined;
  return new Promise((resolve) => {
    setImmediate(() => {
      turned = performance.now();
      resolve();
    });
  });
}
