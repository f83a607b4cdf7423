/** ms between two looks. */
const LOOK_MS = 1_000;
/** ms of a processor: so much work since the last collection leaves enough behind to be worth one. */
const WORTH_MS = 200;
/** ms of a processor between two looks: a thread that had less has come to rest. */
const REST_MS = 20;

interface Options {
  /** ms of a processor that this thread has had. */
  cpu?: () => number;
  /** A full collection of this thread's memory. By default that of `--expose-gc`; without that flag nothing is done. */
  collect?: (() => void) | undefined;
}

/**
 * Gives back the memory of a thread that has come to rest: V8 collects while a thread allocates, so one that stops keeps
 * what its last load has left, 10 to 20 MB. It takes some 30 ms, so the main thread, where everybody waits, is none for it.
 */
export function giveBackAtRest({ cpu = cpuOfThread, collect = collector() }: Options = {}): NodeJS.Timeout | undefined {
  if (collect === undefined) return undefined;
  let collected = 0;
  let before = 0;
  const look = (): void => {
    const now = cpu();
    const rests = now - before < REST_MS;
    before = now;
    if (!rests || now - collected < WORTH_MS) return;
    collect();
    // Its own work is none that leaves anything behind.
    collected = before = cpu();
  };
  return setInterval(look, LOOK_MS).unref();
}

/** ms of a processor that this thread has had. */
export function cpuOfThread(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** As a last resort: it also gives up the pages that a new load would need soon. */
function collector(): (() => void) | undefined {
  const { gc } = globalThis;
  return gc && (() => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }));
}
