import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testCertificate } from '../../test/support/certificate.ts';
import { postfixControl, writePostfix } from '../../test/support/postfix.ts';
import type { RelaySubject, Target } from './relay-load.ts';

const PORT = 3465;
const DOMAIN = 'box.test';
const OPENDKIM = '/usr/sbin/opendkim';

/**
 * Debian's Postfix with Debian's OpenDKIM behind a unix socket, private, on loopback: TLS to it, none from it, no login, no
 * look at the DNS, as many connections to the target as it likes. It signs with RSA only, as Debian's OpenDKIM cannot put
 * two kinds of signature on one message; we make both. Needs root.
 */
export async function relayPostfix(target: Target): Promise<RelaySubject> {
  // Without it Postfix keeps all mail in its queue, and the bench would wait for it.
  if (!existsSync(OPENDKIM)) throw new Error(`${OPENDKIM} does not exist: install the package opendkim`);
  const dir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'peer-bench-'));
  chmodSync(dir, 0o755);
  writeMilter(dir);
  await layPostfix(dir, target);
  const milter = spawn(OPENDKIM, ['-f', '-x', join(dir, 'opendkim.conf')], { stdio: 'inherit' });
  execFileSync(...postfixControl(dir, 'start'), { stdio: ['ignore', 'ignore', 'inherit'] });
  await sleep(2000);
  const master = Number(readFileSync(join(dir, 'spool/pid/master.pid'), 'utf8').trim());
  return {
    name: 'postfix+opendkim',
    roots: [master, milter.pid ?? 0],
    port: PORT,
    sender: `me@${DOMAIN}`,
    login: undefined,
    async stop() {
      spawnSync(...postfixControl(dir, 'stop'), { stdio: 'ignore' });
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

async function layPostfix(dir: string, { host, port }: Target): Promise<void> {
  const { cert, key } = await testCertificate(`mx.${DOMAIN}`);
  writeFileSync(join(dir, 'cert.pem'), `${key}\n${cert}`, { mode: 0o600 });
  writePostfix({
    dir,
    hostname: `mx.${DOMAIN}`,
    settings: `mynetworks = 127.0.0.0/8
default_transport = smtp:[${host}]:${port}
default_destination_concurrency_limit = 100
initial_destination_concurrency = 20
smtp_connection_cache_on_demand = yes
smtp_connection_cache_destinations = [${host}]:${port}
smtp_tls_security_level = none
smtpd_tls_chain_files = ${dir}/cert.pem
smtpd_milters = unix:${dir}/opendkim.sock
milter_default_action = tempfail
in_flow_delay = 0
smtpd_client_connection_count_limit = 0
smtpd_relay_restrictions = permit_mynetworks reject
smtp_dns_support_level = disabled
`,
    services: [
      `127.0.0.1:${PORT} inet n - n - 200 smtpd -o smtpd_tls_wrappermode=yes -o smtpd_tls_security_level=encrypt`,
      'smtp unix - - n - 200 smtp',
    ],
  });
}
