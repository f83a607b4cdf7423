import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { greets, waitUntilStarted } from './started.ts';
import { unpackPackages } from './unpacked-packages.ts';

const PASSWORD = 'only-for-tests-1';
/** The user and group `nobody` of Debian: Cyrus does not run as root. */
const NOBODY = [65534, 65534] as const;
/** Debian's name of the directory of libraries. */
const MACHINE = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';

export interface Cyrus extends AsyncDisposable {
  /** JMAP; 0 if it was not asked for. */
  httpPort: number;
  /** Without TLS. */
  imapPort: number;
  /** The process that all others are below. */
  pid: number;
  /** Kills all its processes like a crash, and starts it on the same ports and files. */
  crash(): Promise<void>;
  /** A mailbox is created at the first login of its user. */
  users: readonly string[];
  password: string;
}

export interface CyrusOptions {
  users: number;
  /** Also serves JMAP. */
  jmap?: boolean;
  /** Directory for its files; by default that of temporary files. */
  below?: string | undefined;
}

/** Debian's Cyrus on loopback, unpacked and not installed. Needs root, and apt-get or UNPACKED_PACKAGES. */
export async function startCyrus({ users, jmap = false, below = tmpdir() }: CyrusOptions): Promise<Cyrus> {
  const dir = mkdtempSync(join(below, 'cyrus-'));
  chmodSync(dir, 0o755);
  unpackPackages('cyrus', join(dir, 'root'));
  const imapPort = await freePort();
  const httpPort = jmap ? await freePort() : 0;
  writeConfiguration(dir, imapPort, httpPort);
  const names = Array.from({ length: users }, (_, n) => `user${n + 1}`);
  for (const name of names) addUser(dir, name);
  execFileSync('chown', ['-R', NOBODY.join(':'), join(dir, 'conf'), join(dir, 'spool'), join(dir, 'sasldb')]);
  let master = launch(dir);
  let ended = once(master, 'exit');
  // The group: each connection is served by a process of its own. Asked to end, it may wait for a session that a failed test left.
  const killAll = async (): Promise<void> => {
    if (master.exitCode === null && master.signalCode === null) process.kill(-(master.pid ?? 0), 'SIGKILL');
    await ended;
  };
  const cyrus: Cyrus = {
    httpPort,
    imapPort,
    get pid() {
      return master.pid ?? 0;
    },
    users: names,
    password: PASSWORD,
    async crash() {
      await killAll();
      master = launch(dir);
      ended = once(master, 'exit');
      await listening(imapPort, master);
    },
    async [Symbol.asyncDispose]() {
      await killAll();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await using stack = new AsyncDisposableStack();
  stack.use(cyrus);
  await listening(imapPort, master);
  stack.move();
  return cyrus;
}

function addUser(dir: string, name: string): void {
  const flags = ['-p', '-c', '-f', join(dir, 'sasldb'), '-u', 'localhost', name];
  execFileSync(join(dir, 'root/usr/sbin/saslpasswd2'), flags, { input: PASSWORD, env: environment(dir) });
}

function launch(dir: string): ChildProcess {
  const flags = ['-M', join(dir, 'cyrus.conf'), '-C', join(dir, 'imapd.conf'), '-p', join(dir, 'master.pid')];
  const program = join(dir, 'root/usr/lib/cyrus/bin/master');
  return spawn(program, flags, { env: environment(dir), stdio: 'ignore', detached: true });
}

function environment(dir: string): NodeJS.ProcessEnv {
  const root = join(dir, 'root');
  const libraries = [`usr/lib/${MACHINE}`, `lib/${MACHINE}`, 'usr/lib/cyrus', 'usr/lib/cyrus/lib'];
  return {
    ...process.env,
    CYRUS_USER: 'nobody',
    LD_LIBRARY_PATH: libraries.map((one) => join(root, one)).join(':'),
    SASL_PATH: join(root, `usr/lib/${MACHINE}/sasl2`),
  };
}

function writeConfiguration(dir: string, imapPort: number, httpPort: number): void {
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
  const service = (name: string, port: number, processes: string): string =>
    `  ${name} cmd="${dir}/root/usr/lib/cyrus/bin/${name}d -C ${dir}/imapd.conf" listen="127.0.0.1:${port}" ${processes}\n`;
  writeFileSync(
    join(dir, 'cyrus.conf'),
    `START {
  recover cmd="${dir}/root/usr/lib/cyrus/bin/ctl_cyrusdb -C ${dir}/imapd.conf -r"
}
SERVICES {
${service('imap', imapPort, 'prefork=1 maxchild=100')}${httpPort === 0 ? '' : service('http', httpPort, 'prefork=10 maxchild=400')}}
`,
  );
}

function listening(port: number, master: ChildProcess): Promise<void> {
  return waitUntilStarted({
    name: 'Cyrus',
    answers: () => greets(port),
    ended: () => master.exitCode !== null,
    // It logs to syslog.
    log: () => Promise.resolve(''),
  });
}
