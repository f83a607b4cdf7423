import { availableParallelism, loadavg } from 'node:os';

/** Factor by which other load slows this machine down, at least 1. */
export const busy = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
