import { access, chown, constants, mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { ServiceControl } from './control.ts';

/** Capabilities are dropped and setuid programs gain none. prlimit: no core dumps, which would hold passwords. */
const SANDBOX = [
  'setpriv',
  '--no-new-privs',
  '--inh-caps=-all',
  '--ambient-caps=-all',
  'prlimit',
  '--core=0',
  '--nofile=4096',
  '--nproc=512',
  '--fsize=4294967296',
  '--data=4294967296',
  '--',
];

/** A program with its user and limits, in a directory of its own. */
export interface SandboxedProgram {
  command: readonly string[];
  uid: number;
  gid: number;
  cwd: string;
}

/**
 * Prepares a program to run as another user than the server: with the server's own, it could read the data directory,
 * drive the operator's socket and read the server's memory in /proc. Throws if it cannot be kept from them.
 */
export async function sandboxed(
  { uid, command }: Extract<ServiceControl, { kind: 'command' }>,
  dataDir: string,
): Promise<SandboxedProgram> {
  if (uid === undefined) throw new Error('no user: set the control again with the uid of a user of its own');
  if (process.getuid?.() !== 0) {
    throw new Error('a command needs a server that is started as root: use a systemd unit or compose instead');
  }
  const { uid: owner, mode } = await stat(dataDir);
  if (uid === 0 || uid === owner) throw new Error(`uid ${uid} owns the server's data: use another one`);
  if ((mode & 0o077) !== 0) throw new Error(`others can read ${dataDir}: set its mode to 0700`);
  await checkProgram(command[0] ?? '');
  const gid = await groupOf(uid);
  const cwd = await mkdtemp(join(tmpdir(), 'mailstead-service-'));
  await chown(cwd, uid, gid);
  return { command: [...SANDBOX, ...command], uid, gid, cwd };
}

/**
 * Primary group of a user; its own number without an entry in /etc/passwd. Throws for a group that may open more than
 * files of its users: the user 6 of Debian has the group 12, while the group 6 reads raw disks.
 */
async function groupOf(uid: number): Promise<number> {
  const [users, groups] = await Promise.all([entriesOf('/etc/passwd'), entriesOf('/etc/group')]);
  const own = users.find((entry) => entry[2] === String(uid))?.[3];
  const gid = own === undefined ? uid : Number(own);
  const name = groups.find((entry) => entry[2] === String(gid))?.[0];
  if (gid === 0 || (own === undefined && name !== undefined) || PRIVILEGED_GROUPS.has(name ?? '')) {
    throw new Error(`uid ${uid} would have the group ${name ?? gid}: use a user with a group of its own`);
  }
  return gid;
}

/** Groups whose members read disks, memory, logs or password hashes, or control containers. */
const PRIVILEGED_GROUPS = new Set([
  'adm',
  'disk',
  'docker',
  'kmem',
  'lxd',
  'root',
  'shadow',
  'sudo',
  'systemd-journal',
]);

async function entriesOf(path: string): Promise<string[][]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').map((line) => line.split(':'));
}

/** Throws if there is no such program: in the sandbox it would start and end again and again. */
async function checkProgram(program: string): Promise<void> {
  const found = program.includes('/')
    ? [program]
    : (process.env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, program));
  await Promise.any(found.map((path) => access(path, constants.X_OK))).catch((error: unknown) => {
    throw error instanceof AggregateError ? error.errors[0] : error;
  });
}
