import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run, succeed } from './run.ts';

const PATIENCE_MS = 20_000;
const PROGRAM = '/usr/sbin/postfix';

export interface ReceivingPostfix extends AsyncDisposable {
  port: number;
  /** What it wrote so far. */
  log(): Promise<string>;
}

/** Debian's Postfix on loopback, with STARTTLS under this certificate: takes what comes for `.test` and throws it away. */
export async function receivingPostfix({ cert, key }: { cert: string; key: string }): Promise<ReceivingPostfix> {
  const dir = await mkdtemp(join(tmpdir(), 'postfix-'));
  await chmod(dir, 0o755);
  for (const name of ['etc', 'spool', 'data', 'log']) await mkdir(join(dir, name));
  await succeed('/bin/chown', ['postfix', join(dir, 'data')]);
  const port = await freePort();
  await writeFile(join(dir, 'cert.pem'), cert);
  await writeFile(join(dir, 'key.pem'), key, { mode: 0o600 });
  await writeFile(join(dir, 'etc/main.cf'), configuration(dir));
  await writeFile(join(dir, 'etc/master.cf'), `${services(port).join('\n')}\n`);
  const postfix: ReceivingPostfix = {
    port,
    log: () => readFile(join(dir, 'log/maillog'), 'utf8').catch(() => ''),
    async [Symbol.asyncDispose]() {
      await run(PROGRAM, ['-c', join(dir, 'etc'), 'stop']);
      await rm(dir, { recursive: true, force: true });
    },
  };
  try {
    await succeed(PROGRAM, ['-c', join(dir, 'etc'), 'start']);
    for (const late = performance.now() + PATIENCE_MS; !(await answers(port)); await delay(50)) {
      if (performance.now() > late) throw new Error(`Postfix did not start: ${await postfix.log()}`);
    }
    return postfix;
  } catch (error) {
    await postfix[Symbol.asyncDispose]();
    throw error;
  }
}

function configuration(dir: string): string {
  return `compatibility_level = 3.6
queue_directory = ${dir}/spool
data_directory = ${dir}/data
mail_owner = postfix
setgid_group = postdrop
maillog_file_prefixes = ${dir}
maillog_file = ${dir}/log/maillog
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mx.remote.test
mydestination =
mynetworks = 127.0.0.0/8
alias_maps =
local_recipient_maps =
default_transport = discard:
smtpd_relay_restrictions = permit_mynetworks reject
smtpd_tls_security_level = may
smtpd_tls_loglevel = 1
smtpd_tls_cert_file = ${dir}/cert.pem
smtpd_tls_key_file = ${dir}/key.pem
`;
}

function services(port: number): string[] {
  return [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'proxymap unix - - n - - proxymap',
    'discard unix - - n - - discard',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'anvil unix - - n - 1 anvil',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'postlog unix-dgram n - n - 1 postlogd',
  ];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Whether its greeting comes. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(2000, () => socket.destroy());
    socket.once('data', () => {
      resolve(true);
      socket.end('QUIT\r\n');
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(false));
  });
}
