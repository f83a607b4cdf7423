import { availableParallelism, loadavg } from 'node:os';

/** How much longer things take on a machine that is busy with others. */
export const busy = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
