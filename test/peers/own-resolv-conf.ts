import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a program that asks the DNS of /etc/resolv.conf with a file of its own in that place, which takes root. */
export async function runWith(
  resolvConf: string,
  command: string[],
  input: Buffer,
): Promise<{ status: number; said: string }> {
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const child = spawn('unshare', ['-m', 'sh', '-c', script, resolvConf, ...command]);
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [status] = (await once(child, 'close')) as [number];
  return { status, said: Buffer.concat(said).toString() };
}
