import { ImapFlow } from 'imapflow';
import type { RemoteAccount } from './pull-types.ts';

const CONNECT_MS = 30_000;
const GREETING_MS = 30_000;
/** A server that sends nothing for so long is gone. */
const SILENCE_MS = 120_000;
/** Octets of a response beside the message in it. */
const RESPONSE_OVERHEAD = 4 * 1024 * 1024;

/** The other server refused the login: a retry cannot help. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused';
}

/** Connects and logs in. Everything that the server sends is bounded; a response that is too large ends the connection. */
export async function connectRemote(account: RemoteAccount, maxOctets: number): Promise<ImapFlow> {
  const { host, ip, port, tls, anyCertificate, user, secret } = account;
  const client = new ImapFlow({
    host: ip,
    port,
    servername: host,
    secure: tls === 'implicit',
    doSTARTTLS: tls === 'starttls',
    tls: { servername: host, rejectUnauthorized: !anyCertificate },
    auth: 'password' in secret ? { user, pass: secret.password } : { user, accessToken: secret.accessToken },
    logger: false,
    clientInfo: { name: 'Mailstead' },
    disableAutoIdle: true,
    // Compressed input could be a thousand times as large as what is counted.
    disableCompression: true,
    disableBinary: true,
    qresync: false,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SILENCE_MS,
    maxLockHoldTime: false,
    maxLiteralSize: maxOctets + 1,
    maxLineLength: RESPONSE_OVERHEAD,
    maxResponseSize: maxOctets + RESPONSE_OVERHEAD,
  });
  // The command that is running reports it: an error event without a listener would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    const { authenticationFailed, responseText } = error as { authenticationFailed?: boolean; responseText?: string };
    if (authenticationFailed !== true) throw error;
    throw new LoginRefused(responseText ?? 'The server refused the login', { cause: error });
  }
}
