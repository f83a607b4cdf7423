import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testCertificate } from '../../test/support/certificate.ts';
import type { RelaySubject, Target } from './relay-load.ts';

const PORT = 3465;
const DOMAIN = 'box.test';

/**
 * Debian's Postfix with Debian's OpenDKIM behind a unix socket, private, on loopback: TLS to it, none from it, no login, no
 * look at the DNS, as many connections to the target as it likes. It signs with RSA only, as Debian's OpenDKIM cannot put
 * two kinds of signature on one message; we make both. Needs root.
 */
export async function relayPostfix(target: Target): Promise<RelaySubject> {
  const dir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'peer-bench-'));
  chmodSync(dir, 0o755);
  writeMilter(dir);
  await writePostfix(dir, target);
  const milter = spawn('/usr/sbin/opendkim', ['-f', '-x', join(dir, 'opendkim.conf')], { stdio: 'inherit' });
  execFileSync('/usr/sbin/postfix', ['-c', join(dir, 'postfix'), 'start'], { stdio: ['ignore', 'ignore', 'inherit'] });
  await sleep(2000);
  const master = Number(readFileSync(join(dir, 'spool/pid/master.pid'), 'utf8').trim());
  return {
    name: 'postfix+opendkim',
    roots: [master, milter.pid ?? 0],
    port: PORT,
    sender: `me@${DOMAIN}`,
    login: undefined,
    async stop() {
      spawnSync('/usr/sbin/postfix', ['-c', join(dir, 'postfix'), 'stop'], { stdio: 'ignore' });
      const ended = new Promise((resolve) => milter.once('exit', resolve));
      milter.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function writeMilter(dir: string): void {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  writeFileSync(join(dir, 'r1.pem'), key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(
    join(dir, 'opendkim.conf'),
    `Socket local:${dir}/opendkim.sock
UMask 000
Mode s
Canonicalization relaxed/relaxed
Domain ${DOMAIN}
Selector r1
KeyFile ${dir}/r1.pem
OversignHeaders From
RequireSafeKeys no
Syslog no
`,
  );
}

async function writePostfix(dir: string, target: Target): Promise<void> {
  for (const name of ['postfix', 'spool', 'data', 'log']) mkdirSync(join(dir, name));
  execFileSync('chown', ['postfix', join(dir, 'data')]);
  const { cert, key } = await testCertificate(`mx.${DOMAIN}`);
  writeFileSync(join(dir, 'cert.pem'), `${key}\n${cert}`, { mode: 0o600 });
  writeFileSync(
    join(dir, 'postfix/main.cf'),
    `compatibility_level = 3.6
queue_directory = ${dir}/spool
data_directory = ${dir}/data
mail_owner = postfix
setgid_group = postdrop
maillog_file_prefixes = ${dir}
maillog_file = ${dir}/log/maillog
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mx.${DOMAIN}
mydestination =
mynetworks = 127.0.0.0/8
alias_maps =
local_recipient_maps =
default_transport = smtp:[${target.host}]:${target.port}
default_destination_concurrency_limit = 100
initial_destination_concurrency = 20
smtp_connection_cache_on_demand = yes
smtp_connection_cache_destinations = [${target.host}]:${target.port}
smtp_tls_security_level = none
smtpd_tls_chain_files = ${dir}/cert.pem
smtpd_milters = unix:${dir}/opendkim.sock
milter_default_action = tempfail
in_flow_delay = 0
smtpd_client_connection_count_limit = 0
smtpd_relay_restrictions = permit_mynetworks reject
smtp_dns_support_level = disabled
`,
  );
  const services = [
    `127.0.0.1:${PORT} inet n - n - 200 smtpd -o smtpd_tls_wrappermode=yes -o smtpd_tls_security_level=encrypt`,
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'flush unix n - n 1000? 0 flush',
    'proxymap unix - - n - - proxymap',
    'smtp unix - - n - 200 smtp',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'anvil unix - - n - 1 anvil',
    'scache unix - - n - 1 scache',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'verify unix - - n - 1 verify',
    'postlog unix-dgram n - n - 1 postlogd',
  ];
  writeFileSync(join(dir, 'postfix/master.cf'), `${services.join('\n')}\n`);
}
