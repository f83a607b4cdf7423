import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.ts';

/**
 * Address of this process for a name server at port 53, the port that programs ask which read resolv.conf: an address of a file of
 * tests would be taken when two runs on a machine come to that file at once.
 */
export const NAME_SERVER = `127.${64 + ((process.pid >> 8) % 128)}.${process.pid & 255}.53`;

/** Runs a program that asks the DNS of /etc/resolv.conf with that name server in its place, which takes root. */
export async function runWithOwnDns(
  command: readonly string[],
  input: Buffer,
): Promise<{ status: number | null; said: string }> {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'resolv-'));
  const resolvConf = join(dir.path, 'resolv.conf');
  await writeFile(resolvConf, `nameserver ${NAME_SERVER}\n`);
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const { status, out, err } = await run('/usr/bin/unshare', ['-m', 'sh', '-c', script, resolvConf, ...command], {
    input,
  });
  return { status, said: out + err };
}
