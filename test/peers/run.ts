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
  /** Time after which it is killed; 120 seconds when left out. */
  patienceMs?: number;
}

/** Generous, because the machine may be busy; below the limits of tests, so that the error says which program hangs. */
const PATIENCE_MS = 120_000;

/** Runs a program to its end, and throws when it has to be killed. Output is read as Latin-1, one character an octet. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = process.env, cwd, input = '', patienceMs = PATIENCE_MS } = options;
  // A process group of its own: a child of the program that outlived it would hold the pipes open, and `close` never came.
  const child = spawn(program, args, { env, cwd, detached: true });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => {}); // a program that does not want its input
  child.stdin.end(input);
  let killed = false;
  const late = setTimeout(() => {
    killed = true;
    killGroup(child.pid);
  }, patienceMs);
  const [status, signal] = (await once(child, 'close').finally(() => clearTimeout(late))) as [
    number | null,
    NodeJS.Signals | null,
  ];
  const ran = { status, out: Buffer.concat(out).toString('latin1'), err: Buffer.concat(err).toString('latin1') };
  if (killed) throw new Error(`${program} was killed after ${patienceMs / 1_000} s${written(ran)}`);
  if (signal !== null) throw new Error(`${program} was ended by ${signal}${written(ran)}`);
  return ran;
}

/** Runs a program that has to succeed and answers what it wrote. */
export async function succeed(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const ran = await run(program, args, options);
  if (ran.status !== 0) throw new Error(`${program} ended with ${ran.status}${written(ran)}`);
  return ran.out;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return; // It never started.
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: all of them ended meanwhile.
  }
}

/** Output of a program for an error; a program that was killed may have buffered it. */
function written({ out, err }: Ran): string {
  if (out === '' && err === '') return '; it had written nothing';
  return `; it had written:\n${out}\n${err}`;
}
