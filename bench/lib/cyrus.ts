import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ImapFlow } from 'imapflow';
import { freePort } from '../../test/support/free-port.ts';
import { message } from './messages.ts';

/** Taken apart into a directory and not installed: Debian's own start would lay a mail server over this machine. */
const PACKAGES = [
  'cyrus-imapd',
  'cyrus-common',
  'cyrus-admin',
  'cyrus-caldav',
  'libcyrus-imap-perl',
  'libshp2',
  'libical3',
  'libpcre3',
  'sasl2-bin',
  'libsasl2-modules',
  'libsasl2-modules-db',
];
const PASSWORD = 'bench-password-1';
/** The user and group `nobody` of Debian: Cyrus does not run as root. */
const NOBODY = [65534, 65534] as const;

export interface Cyrus extends AsyncDisposable {
  httpPort: number;
  /** Without TLS. */
  imapPort: number;
  /** The process that all others are below. */
  pid: number;
  users: readonly string[];
  password: string;
}

/** Debian's Cyrus on loopback with IMAP and JMAP, as many users, each with some messages. Needs root and apt-get. */
export async function startCyrus(users: number, messages: number): Promise<Cyrus> {
  const dir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'cyrus-bench-'));
  execFileSync('chmod', ['755', dir]);
  unpack(dir);
  const [imapPort, httpPort] = [await freePort(), await freePort()];
  write(dir, imapPort, httpPort);
  const names = Array.from({ length: users }, (_, i) => `user${i + 1}`);
  for (const name of names) {
    const flags = ['-p', '-c', '-f', join(dir, 'sasldb'), '-u', 'localhost', name];
    execFileSync(join(dir, 'root/usr/sbin/saslpasswd2'), flags, { input: PASSWORD, env: env(dir) });
  }
  execFileSync('chown', ['-R', NOBODY.join(':'), join(dir, 'conf'), join(dir, 'spool'), join(dir, 'sasldb')]);
  const flags = ['-M', join(dir, 'cyrus.conf'), '-C', join(dir, 'imapd.conf'), '-p', join(dir, 'master.pid')];
  const master = spawn(join(dir, 'root/usr/lib/cyrus/bin/master'), flags, { env: env(dir), stdio: 'ignore' });
  const ended = once(master, 'exit');
  const cyrus: Cyrus = {
    httpPort,
    imapPort,
    pid: master.pid ?? 0,
    users: names,
    password: PASSWORD,
    async [Symbol.asyncDispose]() {
      master.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await using stack = new AsyncDisposableStack();
  stack.use(cyrus);
  await listening(imapPort, () => master.exitCode !== null);
  for (const name of names) await seed(imapPort, name, messages);
  stack.move();
  return cyrus;
}

function env(dir: string): NodeJS.ProcessEnv {
  const root = join(dir, 'root');
  const libraries = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu', 'usr/lib/cyrus', 'usr/lib/cyrus/lib'];
  return {
    ...process.env,
    CYRUS_USER: 'nobody',
    LD_LIBRARY_PATH: libraries.map((one) => join(root, one)).join(':'),
    SASL_PATH: join(root, 'usr/lib/x86_64-linux-gnu/sasl2'),
  };
}

function unpack(dir: string): void {
  const kept = join(dir, 'packages');
  mkdirSync(kept);
  execFileSync('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', ...PACKAGES], {
    cwd: kept,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const name of readdirSync(kept)) execFileSync('dpkg', ['-x', join(kept, name), join(dir, 'root')]);
  if (!existsSync(join(dir, 'root/usr/lib/cyrus/bin/master'))) throw new Error('the packages hold no Cyrus master');
}

function write(dir: string, imapPort: number, httpPort: number): void {
  for (const name of ['db', 'proc', 'log', 'msg', 'quota', 'socket', 'sieve', 'lock']) {
    mkdirSync(join(dir, 'conf', name), { recursive: true });
  }
  mkdirSync(join(dir, 'spool'));
  chownSync(dir, ...NOBODY);
  writeFileSync(
    join(dir, 'imapd.conf'),
    `configdirectory: ${dir}/conf
partition-default: ${dir}/spool
cyrus_user: nobody
servername: localhost
virtdomains: off
unixhierarchysep: yes
altnamespace: yes
httpmodules: jmap
conversations: 1
allowplaintext: yes
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: ${dir}/sasldb
sasl_mech_list: PLAIN
autocreate_quota: 0
autocreate_post: yes
search_engine: none
`,
  );
  writeFileSync(
    join(dir, 'cyrus.conf'),
    `START {
  recover cmd="${dir}/root/usr/lib/cyrus/bin/ctl_cyrusdb -C ${dir}/imapd.conf -r"
}
SERVICES {
  imap cmd="${dir}/root/usr/lib/cyrus/bin/imapd -C ${dir}/imapd.conf" listen="127.0.0.1:${imapPort}" prefork=1 maxchild=20
  http cmd="${dir}/root/usr/lib/cyrus/bin/httpd -C ${dir}/imapd.conf" listen="127.0.0.1:${httpPort}" prefork=10 maxchild=400
}
`,
  );
}

async function listening(port: number, failed: () => boolean): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (failed()) break;
    const socket = connect({ port, host: '127.0.0.1' });
    const there = await once(socket, 'data').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (there) return;
    await sleep(100);
  }
  throw new Error('Cyrus did not start');
}

/** Logs in, which makes the mailbox, and fills it; the folders that mail programs make are there too. */
async function seed(port: number, user: string, messages: number): Promise<void> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port,
    secure: false,
    auth: { user, pass: PASSWORD },
    logger: false,
  });
  await client.connect();
  for (const name of ['Drafts', 'Sent', 'Junk', 'Trash', 'Archive']) await client.mailboxCreate(name);
  for (let n = 0; n < messages; n++) await client.append('INBOX', message(n, 1_500, user));
  await client.logout();
}
