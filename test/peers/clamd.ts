import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepts, waitUntilStarted } from '../support/started.ts';

export interface RunningClamd extends AsyncDisposable {
  /** Path of its socket. */
  path: string;
}

/** Debian's clamd with one signature: that of a file with these octets. */
export async function startClamd(known: Buffer, streamMax = '1M'): Promise<RunningClamd> {
  const dir = mkdtempSync(join(tmpdir(), 'clamd-'));
  mkdirSync(join(dir, 'db'));
  const hash = createHash('md5').update(known).digest('hex');
  writeFileSync(join(dir, 'db/local.hdb'), `${hash}:${known.length}:Test.Known\n`);
  const path = join(dir, 'clamd.ctl');
  writeFileSync(
    join(dir, 'clamd.conf'),
    `DatabaseDirectory ${dir}/db
LocalSocket ${path}
Foreground yes
LogFile ${dir}/log
StreamMaxLength ${streamMax}
`,
  );
  const child = spawn('/usr/sbin/clamd', ['-c', join(dir, 'clamd.conf')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const running: RunningClamd = {
    path,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
  try {
    await waitUntilStarted({
      name: 'clamd',
      answers: () => accepts(path),
      ended: () => child.exitCode !== null,
      log: () => readFile(join(dir, 'log'), 'utf8'),
    });
    return running;
  } catch (error) {
    await running[Symbol.asyncDispose]();
    throw error;
  }
}
