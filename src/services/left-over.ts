import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** So long a killed program is waited for. What does not die in that time hangs in the kernel, and may do so for ever. */
const LONGEST_DEATH_MS = 5_000;
const LOOK_MS = 5;

/**
 * Who runs, in a file: a process that was killed could not end what it had started, and the next one must not start it
 * a second time beside it.
 */
export function rememberProgram(path: string, pid: number): void {
  try {
    writeFileSync(path, `${pid} ${identityOf(pid) ?? ''}`, { mode: 0o600 });
  } catch {
    // A full disk: then it is not known after a crash.
  }
}

export function forgetProgram(path: string): void {
  rmSync(path, { force: true });
}

/**
 * Ends what a killed process left running, if it is the very one, and waits for its end: it may hold the port or the
 * file that its successor needs. Answers its pid.
 */
export async function endLeftOver(path: string): Promise<number | undefined> {
  const [, digits = '', identity = ''] = /^(\d+) (\S+)$/.exec(contentOf(path) ?? '') ?? [];
  forgetProgram(path);
  const pid = Number(digits);
  if (identity === '' || identityOf(pid) !== identity) return undefined;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    return undefined;
  }
  const until = performance.now() + LONGEST_DEATH_MS;
  while (identityOf(pid) === identity && performance.now() < until) await sleep(LOOK_MS);
  return pid;
}

/**
 * When a process began, and since which start of the machine: numbers alone are given again. A dead one that nobody has
 * waited for has none. Linux only.
 */
function identityOf(pid: number): string | undefined {
  const boot = contentOf('/proc/sys/kernel/random/boot_id')?.trim();
  const stat = contentOf(`/proc/${pid}/stat`);
  // proc(5): the name of the program comes second and may hold anything; the start is the 22nd.
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
