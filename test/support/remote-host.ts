import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { testCertificate } from './certificate.ts';
import { type DnsServer, dnsServer } from './dns-server.ts';

export interface Delivered {
  from: string;
  to: string[];
  text: string;
}

/** A mail server of somebody else, for `remote.example`, and the DNS that says so. */
export interface RemoteHost extends AsyncDisposable {
  port: number;
  dns: DnsServer;
  mails: Delivered[];
  /** Resolves when so many messages were taken. */
  received(count: number): Promise<Delivered[]>;
}

/** Starts it on loopback. Its words are smtp-server's, not ours. */
export async function remoteHost(): Promise<RemoteHost> {
  const mails: Delivered[] = [];
  const waiting: { count: number; resolve: (all: Delivered[]) => void }[] = [];
  const server = new SMTPServer({
    name: 'mx.remote.example',
    ...(await testCertificate('mx.remote.example')),
    authOptional: true,
    disabledCommands: ['AUTH'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mails.push({ ...envelopeOf(session), text: Buffer.concat(chunks).toString() });
        done();
        for (const { count, resolve } of waiting) if (mails.length >= count) resolve(mails);
      });
    },
  });
  server.on('error', () => {}); // a client that goes away
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const dns = await dnsServer({ 'MX remote.example': ['10 mx.remote.example'], 'A mx.remote.example': ['127.0.0.1'] });
  return {
    port: (listener.address() as AddressInfo).port,
    dns,
    mails,
    async received(count) {
      if (mails.length >= count) return mails;
      const { promise, resolve } = Promise.withResolvers<Delivered[]>();
      waiting.push({ count, resolve });
      return promise;
    },
    async [Symbol.asyncDispose]() {
      await dns[Symbol.asyncDispose]();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function envelopeOf({ envelope }: SMTPServerSession): { from: string; to: string[] } {
  const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
  return { from, to: envelope.rcptTo.map(({ address }) => address) };
}
