import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callServer } from '../../src/operator-socket/client.ts';
import { dnsServer } from '../../test/support/dns-server.ts';
import { startMailstead } from './mailstead.ts';
import type { RelaySubject, Target } from './relay-load.ts';

const ADDRESS = 'me@box.test';
const PASSWORD = 'bench-password-1';

/** Mailstead in live mode on loopback, with a domain that has both keys; its mail for `domains` leads to the target. */
export async function relayMailstead(target: Target, domains: readonly string[]): Promise<RelaySubject> {
  const dns = await dnsServer(
    Object.fromEntries(
      domains.flatMap((domain) => [
        [`MX ${domain}`, [`10 mx.${domain}`]],
        [`A mx.${domain}`, [target.host]],
      ]),
    ),
  );
  const dataDir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'mailstead-bench-'));
  const box = await startMailstead(
    0,
    {
      MAILSTEAD_HOSTNAME: 'mail.box.test',
      MAILSTEAD_LISTEN: '127.0.0.1',
      MAILSTEAD_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
      MAILSTEAD_RESOLVERS: dns.address,
      MAILSTEAD_OUTBOUND_PORT: String(target.port),
      // No person sends so much.
      MAILSTEAD_PAUSE_SENDERS: 'off',
      MAILSTEAD_MAILBOX_DAILY: '0',
      MAILSTEAD_MAILBOX_NEW_RECIPIENTS: '0',
      MAILSTEAD_ORGANIZATION_DAILY: '0',
    },
    undefined,
    dataDir,
  );
  const ask = async (operation: string, input: object): Promise<void> => {
    const answer = await callServer(dataDir, operation, input);
    if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
  };
  await ask('add_domain', { domain: 'box.test' });
  await ask('add_mailbox', { address: ADDRESS, password: PASSWORD });
  return {
    name: 'mailstead',
    roots: box.roots,
    port: box.ports['submissions'] ?? 0,
    sender: ADDRESS,
    login: Buffer.from(`\0${ADDRESS}\0${PASSWORD}`).toString('base64'),
    async stop() {
      await box.stop();
      await dns[Symbol.asyncDispose]();
    },
  };
}
