import { access, chown, constants, mkdtemp, stat } from 'node:fs/promises';
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
  const cwd = await mkdtemp(join(tmpdir(), 'mailstead-service-'));
  await chown(cwd, uid, uid);
  return { command: [...SANDBOX, ...command], uid, cwd };
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
