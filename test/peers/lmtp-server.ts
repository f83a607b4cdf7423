import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** An LMTP server on loopback that takes all mail for everybody. */
export interface LmtpServer extends AsyncDisposable {
  readonly port: number;
  /** Messages in the order of their arrival, with CRLF. Latin-1, one character an octet. */
  readonly messages: string[];
}

/** Starts it, without TLS and logins. */
export async function startLmtpServer(): Promise<LmtpServer> {
  const messages: string[] = [];
  const server = new SMTPServer({
    lmtp: true,
    name: 'lmtp.example',
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        messages.push(Buffer.concat(chunks).toString('latin1'));
        done();
      });
    },
  });
  server.on('error', () => {}); // a client that goes away
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    messages,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
