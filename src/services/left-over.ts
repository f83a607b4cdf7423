import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/**
 * Kills every process of a service's user, as a program can leave its process group (setsid). Returns if none is left.
 * Processes of the user in another cgroup than the server's were not started by it and are spared.
 */
export async function killProcessesOf(user: { uid: number; gid: number }): Promise<boolean> {
  const { uid } = user;
  if (uid === 0 || uid === process.getuid?.() || process.platform !== 'linux') return true;
  const until = performance.now() + MAX_KILL_MS;
  while (performance.now() < until) {
    const { ours, others } = processesOf(uid);
    if (ours.length === 0) return true;
    // One signal for all cannot be outrun by forking, but reaches every process of the user.
    if (others === 0) await killAllAs(user);
    else for (const pid of ours) killOne(pid);
    await sleep(POLL_MS);
  }
  return false;
}

/** Runs as the user itself, so that the signal reaches nobody else; without variables of the server. */
async function killAllAs({ uid, gid }: { uid: number; gid: number }): Promise<void> {
  const killer = spawn('sh', ['-c', 'kill -s KILL -- -1'], {
    uid,
    gid,
    env: { PATH: process.env['PATH'] },
    stdio: 'ignore',
  });
  await once(killer, 'exit').catch(() => undefined);
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Running processes of a user: those in the cgroup of the server, and the number of others. */
function processesOf(uid: number): { ours: number[]; others: number } {
  const cgroup = contentOf('/proc/self/cgroup');
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isRunBy(name, uid));
  const ours = pids.filter((pid) => contentOf(`/proc/${pid}/cgroup`) === cgroup);
  return { ours: ours.map(Number), others: pids.length - ours.length };
}

/** proc(5): real user id, and state; a zombie runs no more. */
function isRunBy(pid: string, uid: number): boolean {
  const status = contentOf(`/proc/${pid}/status`) ?? '';
  return /^Uid:\t(\d+)/m.exec(status)?.[1] === String(uid) && !/^State:\t[ZX]/m.test(status);
}
