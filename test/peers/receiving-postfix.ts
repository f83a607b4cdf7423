import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { postfixControl, writePostfix } from '../support/postfix.ts';
import { run, succeed } from './run.ts';
import { greets, waitUntilStarted } from '../support/started.ts';

export interface ReceivingPostfix extends AsyncDisposable {
  port: number;
  /** Its log so far. */
  log(): Promise<string>;
}

/** Debian's Postfix on loopback, with STARTTLS under this certificate: takes what comes for `.test` and throws it away. */
export async function receivingPostfix({ cert, key }: { cert: string; key: string }): Promise<ReceivingPostfix> {
  const dir = await mkdtemp(join(tmpdir(), 'postfix-'));
  await chmod(dir, 0o755);
  const port = await freePort();
  await writeFile(join(dir, 'cert.pem'), cert);
  await writeFile(join(dir, 'key.pem'), key, { mode: 0o600 });
  const services = [`127.0.0.1:${port} inet n - n - - smtpd`, 'discard unix - - n - - discard'];
  writePostfix({ dir, hostname: 'mx.remote.test', settings: settings(dir), services });
  const postfix: ReceivingPostfix = {
    port,
    log: () => readFile(join(dir, 'log/maillog'), 'utf8').catch(() => ''),
    async [Symbol.asyncDispose]() {
      await run(...postfixControl(dir, 'stop'));
      await rm(dir, { recursive: true, force: true });
    },
  };
  try {
    await succeed(...postfixControl(dir, 'start'));
    await waitUntilStarted({ name: 'Postfix', answers: () => greets(port), log: () => postfix.log() });
    return postfix;
  } catch (error) {
    await postfix[Symbol.asyncDispose]();
    throw error;
  }
}

function settings(dir: string): string {
  return `mynetworks = 127.0.0.0/8
default_transport = discard:
smtpd_relay_restrictions = permit_mynetworks reject
smtpd_tls_security_level = may
smtpd_tls_loglevel = 1
smtpd_tls_cert_file = ${dir}/cert.pem
smtpd_tls_key_file = ${dir}/key.pem
`;
}
