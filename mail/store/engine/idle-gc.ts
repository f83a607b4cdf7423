/** Interval between checks, ms. */
const CHECK_INTERVAL_MS = 1_000;
/** Minimum CPU time since the last collection to run another, ms. */
const MIN_WORK_MS = 200;
/** Maximum CPU time between two checks of an idle thread, ms. */
const MAX_IDLE_CPU_MS = 20;

interface Options {
  /** CPU time of this thread, ms. */
  cpu?: () => number;
  /** Runs a full garbage collection. Default: that of `--expose-gc`; without the flag nothing is done. */
  collect?: (() => void) | undefined;
}

/**
 * Collects garbage in an idle thread. V8 collects while a thread allocates, so an idle one retains 10 to 20 MB of its
 * last load. A collection blocks for about 30 ms, so the main thread must not use it.
 */
export function collectWhenIdle({ cpu = cpuOfThread, collect = collector() }: Options = {}):
  NodeJS.Timeout | undefined {
  if (collect === undefined) return undefined;
  let collected = 0;
  let before = 0;
  const look = (): void => {
    const now = cpu();
    const rests = now - before < MAX_IDLE_CPU_MS;
    before = now;
    if (!rests || now - collected < MIN_WORK_MS) return;
    collect();
    // The CPU time of the collection itself does not count.
    collected = before = cpu();
  };
  return setInterval(look, CHECK_INTERVAL_MS).unref();
}

/** CPU time of this thread, ms. */
export function cpuOfThread(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Type `last-resort`: it also releases the pages that a new load would need soon. */
function collector(): (() => void) | undefined {
  const { gc } = globalThis;
  return gc && (() => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }));
}
