import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, succeed } from './run.ts';

/** sysexits(3): what a delivery program says of a user that it does not know. */
const NO_USER = 67;

export interface BouncingPostfix extends AsyncDisposable {
  port: number;
}

/**
 * Debian's Postfix as the server of `remote.test` that takes all mail and then finds that nobody has that name, as servers
 * do that know their users late. Its reports go to `mx`, a port of loopback. Needs root.
 */
export async function bouncingPostfix(mx: () => number): Promise<BouncingPostfix & { start(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'postfix-'));
  await chmod(dir, 0o755);
  const port = await freePort();
  const control = (word: string) => ['-c', join(dir, 'etc'), word];
  return {
    port,
    async start() {
      for (const name of ['etc', 'spool', 'data', 'log']) await mkdir(join(dir, name));
      await succeed('/usr/bin/chown', ['postfix', join(dir, 'data')]);
      await writeFile(join(dir, 'etc/main.cf'), mainCf(dir, mx()));
      await writeFile(join(dir, 'etc/master.cf'), masterCf(port));
      await succeed('/usr/sbin/postfix', control('start'));
    },
    async [Symbol.asyncDispose]() {
      await run('/usr/sbin/postfix', control('stop'));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function mainCf(dir: string, mx: number): string {
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
mynetworks =
alias_maps =
local_recipient_maps =
virtual_mailbox_domains = remote.test
virtual_mailbox_maps = static:ok
virtual_transport = nobody
smtpd_relay_restrictions = reject_unauth_destination
relayhost = [127.0.0.1]:${mx}
smtp_dns_support_level = disabled
smtp_host_lookup = native
smtp_tls_security_level = none
`;
}

function masterCf(port: number): string {
  return `127.0.0.1:${port} inet n - n - 20 smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
tlsmgr unix - - n 1000? 1 tlsmgr
verify unix - - n - 1 verify
nobody unix - n n - - pipe user=nobody argv=/bin/sh -c { exit ${NO_USER} }
postlog unix-dgram n - n - 1 postlogd
`;
}
