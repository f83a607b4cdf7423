/** A tab in the background is not painted. */
const LATEST_MS = 1_000;
/** Pause of browsers that do not say when they are idle. */
const PAUSE_MS = 100;

/** Waits until the page is painted as it is now and the browser is idle; in the background for a second. */
export function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => whenIdle(resolve));
    setTimeout(resolve, LATEST_MS);
  });
}

function whenIdle(action: () => void): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(action, { timeout: LATEST_MS });
  else setTimeout(action, PAUSE_MS);
}
