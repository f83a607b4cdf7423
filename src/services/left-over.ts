import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time to wait for a killed process; one that does not end by then hangs in the kernel. */
const MAX_KILL_MS = 5_000;
const POLL_MS = 5;

/** Writes a pid file: after a crash the next start must end the orphan instead of running a second one beside it. */
export function writePidFile(path: string, pid: number): void {
  try {
    writeFileSync(path, `${pid} ${identityOf(pid) ?? ''}`, { mode: 0o600 });
  } catch {
    // Ignores a full disk: then an orphan is not found after a crash.
  }
}

export function removePidFile(path: string): void {
  rmSync(path, { force: true });
}

/**
 * Kills an orphan of an earlier process if it is the same process, and waits for its end: it may hold a port or file that its
 * successor needs. Returns its pid.
 */
export async function killOrphan(path: string): Promise<number | undefined> {
  const [, digits = '', identity = ''] = /^(\d+) (\S+)$/.exec(contentOf(path) ?? '') ?? [];
  removePidFile(path);
  const pid = Number(digits);
  if (identity === '' || identityOf(pid) !== identity) return undefined;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    return undefined;
  }
  const until = performance.now() + MAX_KILL_MS;
  while (identityOf(pid) === identity && performance.now() < until) await sleep(POLL_MS);
  return pid;
}

/** Boot id and start time of a process, as pids are reused. Undefined for a zombie. Linux only. */
function identityOf(pid: number): string | undefined {
  const boot = contentOf('/proc/sys/kernel/random/boot_id')?.trim();
  const stat = contentOf(`/proc/${pid}/stat`);
  // proc(5): the program name is the second field and may contain anything; the start time is the 22nd.
  const [state, ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const began = rest[18];
  return boot === undefined || began === undefined || state === 'Z' ? undefined : `${boot}/${began}`;
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
