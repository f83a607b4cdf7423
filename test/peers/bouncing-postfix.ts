import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { postfixControl, writePostfix } from '../support/postfix.ts';
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
  return {
    port,
    async start() {
      const services = [
        `127.0.0.1:${port} inet n - n - 20 smtpd`,
        `nobody unix - n n - - pipe user=nobody argv=/bin/sh -c { exit ${NO_USER} }`,
      ];
      writePostfix({ dir, hostname: 'mx.remote.test', settings: settings(mx()), services });
      await succeed(...postfixControl(dir, 'start'));
    },
    async [Symbol.asyncDispose]() {
      await run(...postfixControl(dir, 'stop'));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function settings(mx: number): string {
  return `mynetworks =
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
