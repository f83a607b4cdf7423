import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postfixControl, writePostfix } from '../../test/support/postfix.ts';
import type { Subject } from './mailstead.ts';

const SMTP = 3525;
const LMTP = 3424;
const IMAP = 3143;
const DOMAIN = 'local.test';
const PASSWORD = 'pw';

/** Settings of Dovecot by name. `tuned`: processes that wait for logins and serve many, and what rows ask for is cached at once. */
export const DOVECOTS = {
  sdbox: 'mail_location = sdbox:~/sdbox',
  maildir: 'mail_location = maildir:~/Maildir',
  tuned: `mail_location = sdbox:~/sdbox
mail_always_cache_fields = flags date.received date.save size.virtual size.physical imap.envelope imap.bodystructure mime.parts hdr.subject hdr.from hdr.date hdr.references
mailbox_list_index = yes
service imap-login {
  service_count = 0
  process_min_avail = 2
  client_limit = 1000
}
service imap {
  service_count = 100
  process_min_avail = 10
}
service auth {
  client_limit = 10000
}
auth_cache_size = 10M`,
} as const;

/**
 * Debian's Postfix delivering by LMTP to Debian's Dovecot (sdbox, its fastest durable format, unless named otherwise), both
 * private, on loopback, without TLS, with their default fsync; `settings` are more lines of main.cf. Needs root: Postfix will
 * not run otherwise.
 */
export async function startPeer(
  users: number,
  settings = '',
  dovecotSettings: keyof typeof DOVECOTS = 'sdbox',
): Promise<Subject> {
  const dir = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'peer-bench-'));
  chmodSync(dir, 0o755);
  const names = Array.from({ length: users }, (_, i) => `sd${i + 1}`);
  writeDovecot(dir, names, DOVECOTS[dovecotSettings]);
  layPostfix(dir, settings);
  const dovecot = spawn('/usr/sbin/dovecot', ['-F', '-c', join(dir, 'dovecot.conf')], { stdio: 'inherit' });
  run(...postfixControl(dir, 'start'));
  await sleep(2000);
  const master = Number(readFileSync(join(dir, 'spool/pid/master.pid'), 'utf8').trim());
  return {
    name: 'postfix+dovecot',
    roots: [master, dovecot.pid ?? 0],
    smtpPort: SMTP,
    lmtpPort: LMTP,
    imapPort: IMAP,
    users: names,
    domain: DOMAIN,
    password: PASSWORD,
    async stop() {
      spawnSync(...postfixControl(dir, 'stop'), { stdio: 'ignore' });
      const ended = new Promise((resolve) => dovecot.once('exit', resolve));
      dovecot.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function run(command: string, args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function writeDovecot(dir: string, users: readonly string[], settings: string): void {
  mkdirSync(join(dir, 'mail'));
  // Mail belongs to a user of its own; any number that nobody has will do.
  run('chown', ['5000:5000', join(dir, 'mail')]);
  writeFileSync(
    join(dir, 'users'),
    users.map((user) => `${user}:{PLAIN}${PASSWORD}:5000:5000::${dir}/mail/${user}::\n`).join(''),
  );
  chmodSync(join(dir, 'users'), 0o644);
  writeFileSync(
    join(dir, 'dovecot.conf'),
    `base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_max_userip_connections = 10000
default_process_limit = 3000
default_client_limit = 6000
first_valid_uid = 5000
mail_uid = 5000
mail_gid = 5000
mail_home = ${dir}/mail/%u
${settings}
passdb {
  driver = passwd-file
  args = scheme=PLAIN username_format=%n ${dir}/users
}
userdb {
  driver = passwd-file
  args = username_format=%n ${dir}/users
}
service imap-login {
  inet_listener imap {
    port = ${IMAP}
  }
  inet_listener imaps {
    port = 0
  }
}
service lmtp {
  inet_listener lmtp {
    port = ${LMTP}
  }
}
namespace inbox {
  inbox = yes
}
`,
  );
}

function layPostfix(dir: string, more: string): void {
  writePostfix({
    dir,
    hostname: `mx.${DOMAIN}`,
    settings: `mynetworks = 127.0.0.0/8
virtual_mailbox_domains = ${DOMAIN}
virtual_mailbox_maps = static:ok
virtual_transport = lmtp:inet:127.0.0.1:${LMTP}
default_transport = error:no-internet
in_flow_delay = 0
smtpd_client_connection_count_limit = 0
smtpd_relay_restrictions = permit_mynetworks reject
smtp_dns_support_level = disabled
message_size_limit = 60000000
${more}`,
    services: [`127.0.0.1:${SMTP} inet n - n - 200 smtpd`, 'lmtp unix - - n - - lmtp'],
  });
}
