import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Ran {
  status: number | null;
  out: string;
  err: string;
}

export interface RunOptions {
  input?: string | Buffer;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** 60 seconds when left out. */
  patienceMs?: number;
  /** The user as whom it runs. */
  uid?: number;
  gid?: number;
}

/** Runs a program to its end. Output is read as Latin-1, one character an octet. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawn(program, args, {
    env: options.env ?? process.env,
    cwd: options.cwd,
    ...(options.uid !== undefined && { uid: options.uid, gid: options.gid }),
    timeout: options.patienceMs ?? 60_000,
    killSignal: 'SIGKILL',
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => {}); // a program that does not want its input
  child.stdin.end(options.input ?? '');
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, out: Buffer.concat(out).toString('latin1'), err: Buffer.concat(err).toString('latin1') };
}

/** Runs a program that has to succeed and answers what it wrote. */
export async function succeed(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { status, out, err } = await run(program, args, options);
  if (status !== 0) throw new Error(`${program} ended with ${status}:\n${out}\n${err}`);
  return out;
}
