import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';

/** Owner of the mail files; the uid needs no name. */
const MAIL_ID = 5_000;
const PATIENCE_MS = 20_000;

export interface Dovecot extends AsyncDisposable {
  /** Plain IMAP on loopback; any user and password log in. */
  port: number;
}

/** Debian's Dovecot with files and a configuration of its own. */
export async function startDovecot(): Promise<Dovecot> {
  const dir = await mkdtemp(join(tmpdir(), 'dovecot-'));
  const port = await freePort();
  await chmod(dir, 0o755);
  await mkdir(join(dir, 'mail'));
  await chown(join(dir, 'mail'), MAIL_ID, MAIL_ID);
  await writeFile(join(dir, 'dovecot.conf'), configuration(dir, port));
  const child = spawn('/usr/sbin/dovecot', ['-F', '-c', join(dir, 'dovecot.conf')], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  const dovecot = {
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
  const late = performance.now() + PATIENCE_MS;
  while (!(await answers(port))) {
    if (child.exitCode === null && performance.now() < late) {
      await delay(50);
      continue;
    }
    const log = await readFile(join(dir, 'log'), 'utf8').catch(() => '');
    await dovecot[Symbol.asyncDispose]();
    throw new Error(`Dovecot did not start: ${log}`);
  }
  return dovecot;
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

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'data');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
