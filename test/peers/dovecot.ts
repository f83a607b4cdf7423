import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { greets, waitUntilStarted } from '../support/started.ts';

/** Owner of the mail files; the uid needs no name. */
const MAIL_ID = 5_000;

export interface Dovecot extends AsyncDisposable {
  /** Plain IMAP on loopback; any user and password log in. */
  port: number;
  /** Home of a user, where the Maildir is. */
  home(user: string): string;
  /** Kills all its processes like a crash, and starts it on the same port and files. */
  crash(): Promise<void>;
}

/** Debian's Dovecot with files and a configuration of its own. */
export async function startDovecot(): Promise<Dovecot> {
  const dir = await mkdtemp(join(tmpdir(), 'dovecot-'));
  const port = await freePort();
  await chmod(dir, 0o755);
  await mkdir(join(dir, 'mail'));
  await chown(join(dir, 'mail'), MAIL_ID, MAIL_ID);
  await writeFile(join(dir, 'dovecot.conf'), configuration(dir, port));
  let child = launch(dir);
  let ended = once(child, 'exit');
  const dovecot = {
    port,
    home: (user: string) => join(dir, 'mail', user),
    async crash() {
      // The group: a session of a user is a process of its own.
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await ended;
      child = launch(dir);
      ended = once(child, 'exit');
      await listening(dir, port, child);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
  try {
    await listening(dir, port, child);
  } catch (error) {
    await dovecot[Symbol.asyncDispose]();
    throw error;
  }
  return dovecot;
}

function launch(dir: string): ChildProcess {
  return spawn('/usr/sbin/dovecot', ['-F', '-c', join(dir, 'dovecot.conf')], { stdio: 'inherit', detached: true });
}

function listening(dir: string, port: number, child: ChildProcess): Promise<void> {
  return waitUntilStarted({
    name: 'Dovecot',
    answers: () => greets(port),
    ended: () => child.exitCode !== null,
    log: () => readFile(join(dir, 'log'), 'utf8'),
  });
}

function configuration(dir: string, port: number): string {
  return `
base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
first_valid_uid = ${MAIL_ID}
mail_location = maildir:~/Maildir
mail_save_crlf = yes
passdb {
  driver = static
  args = nopassword=y
}
userdb {
  driver = static
  args = uid=${MAIL_ID} gid=${MAIL_ID} home=${dir}/mail/%u
}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
namespace inbox {
  inbox = yes
}
`;
}
