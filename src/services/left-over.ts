import { readFileSync, rmSync, writeFileSync } from 'node:fs';

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

/** Ends what a killed process left running, if it is the very one. Answers its pid. */
export function endLeftOver(path: string): number | undefined {
  const [, digits = '', identity = ''] = /^(\d+) (\S+)$/.exec(contentOf(path) ?? '') ?? [];
  forgetProgram(path);
  const pid = Number(digits);
  if (identity === '' || identityOf(pid) !== identity) return undefined;
  try {
    process.kill(-pid, 'SIGKILL');
    return pid;
  } catch {
    return undefined;
  }
}

/** When a process began, and since which start of the machine: numbers alone are given again. Linux only. */
function identityOf(pid: number): string | undefined {
  const boot = contentOf('/proc/sys/kernel/random/boot_id')?.trim();
  const stat = contentOf(`/proc/${pid}/stat`);
  // proc(5): the name of the program comes second and may hold anything; the start is the 22nd.
  const began = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return boot === undefined || began === undefined ? undefined : `${boot}/${began}`;
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
