import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { callServer } from '../../src/operator-socket/client.ts';

export interface Subject {
  name: string;
  /** Processes whose CPU and memory count. */
  roots: number[];
  smtpPort: number;
  lmtpPort?: number;
  imapPort: number;
  /** Where a password is taken over TLS only. */
  imapsPort?: number;
  /** Where mail comes to, of each user; INBOX by default. */
  mailboxes?: readonly string[];
  /** Users that exist, and their password. */
  users: readonly string[];
  domain: string;
  password: string;
  stop(): Promise<void>;
}

const PASSWORD = 'bench-password-1';

/** Starts Mailstead in local mode on free ports, with its per-address limits lifted for loopback and some mailboxes. */
export async function startMailstead(
  mailboxes = 10,
  env: Record<string, string> = {},
  program?: URL,
  /** A directory of an earlier start, with its mailboxes; it stays. */
  again?: string,
): Promise<Subject & { ports: Record<string, number>; dataDir: string }> {
  const dataDir = again ?? mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'mailstead-bench-'));
  const ports = Object.fromEntries(
    ['HTTP', 'HTTPS', 'SMTP', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS'].map((door) => [
      `MAILSTEAD_${door}_PORT`,
      '0',
    ]),
  );
  const log = `${dataDir}.log`;
  const command =
    program === undefined
      ? [fileURLToPath(new URL('../../bin/mailstead', import.meta.url)), 'serve']
      : [process.execPath, fileURLToPath(program)];
  const child = spawn(command[0] ?? '', command.slice(1), {
    env: {
      ...process.env,
      ...ports,
      MAILSTEAD_DATA_DIR: dataDir,
      ...(env['MAILSTEAD_HOSTNAME'] === undefined && { MAILSTEAD_LOCAL_PASSWORD: PASSWORD }),
      MAILSTEAD_EXEMPT_NETWORKS: '127.0.0.0/8',
      MAILSTEAD_LOG_FORMAT: 'json',
      MAILSTEAD_LOG_LEVEL: 'info',
      ...env,
    },
    // To a file, as a supervisor would: reading the log here would cost the generator what it measures.
    stdio: ['ignore', openSync(log, 'w'), 'inherit'],
  });
  const listeners = await ready(child, log);
  const users = Array.from({ length: mailboxes }, (_, i) => `user${i + 1}`);
  for (const user of again === undefined ? users : [])
    await callServer(dataDir, 'add_mailbox', { address: `${user}@box.test`, password: PASSWORD });
  return {
    name: 'mailstead',
    roots: [child.pid ?? 0],
    smtpPort: listeners.smtp ?? 0,
    imapPort: listeners.imap ?? 0,
    users,
    domain: 'box.test',
    password: PASSWORD,
    ports: listeners,
    dataDir,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      if (again === undefined) rmSync(dataDir, { recursive: true, force: true });
      rmSync(log, { force: true });
    },
  };
}

/** Waits for the ready line in the log file. */
async function ready(child: ChildProcess, log: string): Promise<Record<string, number>> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`Mailstead ended with ${child.exitCode} before it was ready`);
    const line = readFileSync(log, 'utf8')
      .split('\n')
      .find((one) => one.includes('"msg":"ready"'));
    if (line !== undefined) return (JSON.parse(line) as { listeners: Record<string, number> }).listeners;
    await sleep(50);
  }
}
