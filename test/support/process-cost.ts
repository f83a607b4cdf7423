import { readFileSync } from 'node:fs';

/** ms. One tick of the kernel's CPU clock. */
const TICK_MS = 10;

/** Returns the CPU time that all threads of a process have used, in ms. */
export function cpuOfProcess(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
