import type { ImapFlow } from 'imapflow';
import { connectFailure, RemoteAnswerInvalid } from './remote-failure.ts';
import type { RemoteAccount } from './pull-types.ts';

const CONNECT_MS = 30_000;
const GREETING_MS = 30_000;
/** A server that sends nothing for so long is gone. */
const SILENCE_MS = 120_000;
/** Octets of a response beside the message in it. */
const RESPONSE_OVERHEAD = 4 * 1024 * 1024;

/** Time between two looks at what a command has brought. */
const LOOK_MS = 20;

/**
 * Runs commands whose responses are kept in memory, and ends the connection when the server has sent more octets: it can send
 * lines without end, each of which is short.
 */
export async function withOctetLimit<T>(client: ImapFlow, most: number, run: () => Promise<T>): Promise<T> {
  const { received: before } = client.stats();
  let exceeded = false;
  const watch = setInterval(() => {
    exceeded ||= client.stats().received - before > most;
    if (exceeded) client.close();
  }, LOOK_MS);
  try {
    return await run();
  } catch (error) {
    throw exceeded ? new RemoteFlood(most) : error;
  } finally {
    clearInterval(watch);
  }
}

/** The other server sent more than a list of folders or messages can have: a retry cannot help. */
export class RemoteFlood extends RemoteAnswerInvalid {
  constructor(most: number) {
    super(`The other server sent more than ${Math.ceil(most / 1024 / 1024)} MB where a list was expected`);
  }
}

/**
 * Connects and logs in. Each response is bounded; one that is too large ends the connection, and so does `stop`, whatever the
 * server does.
 */
export async function connectRemote(account: RemoteAccount, maxOctets: number, stop?: AbortSignal): Promise<ImapFlow> {
  const { host, ip, port, tls, anyCertificate, user, secret } = account;
  // Only here: most servers never import, and the library has 300 modules.
  const { RemoteClient } = await import('./remote-client.ts');
  const client = new RemoteClient({
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
  const close = (): void => client.close();
  stop?.addEventListener('abort', close, { once: true });
  client.once('close', () => stop?.removeEventListener('abort', close));
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    throw connectFailure(error);
  }
}
