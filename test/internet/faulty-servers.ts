import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer, request } from 'node:https';
import type { ProviderRequest } from '../../src/dns-providers/transport.ts';
import type { FakeDnsApi } from '../support/dns-apis/fake-dns-api.ts';
import { AT } from '../support/network-namespace.ts';
import type { Pebble } from '../support/pebble.ts';
import { SERVERS } from './faulty-dns.ts';

export type AuthorityMode = 'well' | 'down' | 'slow' | 'nonsense' | 'limited' | 'refusing';
const AUTHORITY_PORT = 14_000;

interface FaultyAuthority extends AsyncDisposable {
  directory: string;
  mode: AuthorityMode;
  /** Difference of its clock to the time that passed here, ms. */
  skewMs: number;
}

const problem = (type: string, detail: string): string =>
  JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail });

/** Passes requests on to pebble, or not. `now`: the time here. */
export async function faultyAuthority(pebble: Pebble, now: () => number): Promise<FaultyAuthority> {
  const { port } = new URL(pebble.directory);
  const server = createServer({ ...pebble.server, keepAliveTimeout: 1 }, (incoming, outgoing) => {
    const { url = '', method = 'GET', headers } = incoming;
    outgoing.setHeader('date', new Date(now() + authority.skewMs).toUTCString());
    if (authority.mode === 'slow') return undefined;
    if (authority.mode === 'nonsense') return void outgoing.end('<html>');
    // RFC 8555 6.6: a pause that the authority demands; 7.3.6: an account that it deactivated.
    if (authority.mode === 'limited') outgoing.setHeader('retry-after', '1');
    if (authority.mode === 'limited')
      return void outgoing.writeHead(429).end(problem('rateLimited', 'too many orders'));
    if (authority.mode === 'refusing' && method === 'POST')
      return void outgoing.writeHead(403).end(problem('unauthorized', 'the account was deactivated'));
    const target = {
      host: '127.0.0.1',
      port,
      servername: 'acme.test',
      path: url,
      method,
      headers,
      ca: pebble.serverRoot,
    };
    const passed = request({ ...target, agent: false });
    passed.on('error', () => incoming.socket.destroy());
    passed.on('response', (response) => {
      const { date: _, ...rest } = response.headers;
      outgoing.writeHead(response.statusCode ?? 500, rest);
      response.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  server.on('connection', (socket) => authority.mode === 'down' && socket.destroy());
  await listening(server, SERVERS.authority, AUTHORITY_PORT);
  const authority: FaultyAuthority = {
    directory: `https://acme.test:${AUTHORITY_PORT}/dir`,
    mode: 'well',
    skewMs: 0,
    [Symbol.asyncDispose]: () => closed(server),
  };
  return authority;
}

interface FaultyProvider extends AsyncDisposable {
  mode: 'well' | 'slow' | 'nonsense' | 'limited';
  /** Changes that it accepts before the token is revoked. */
  changesLeft: number;
}

/** The API of a DNS provider at its own name. */
export async function faultyProvider(api: FakeDnsApi, tls: { cert: string; key: string }): Promise<FaultyProvider> {
  const provider: FaultyProvider = {
    mode: 'well',
    changesLeft: Infinity,
    [Symbol.asyncDispose]: () => closed(server),
  };
  const server = createServer(tls, (incoming, outgoing) => {
    if (provider.mode === 'slow') return;
    if (provider.mode === 'nonsense') return void outgoing.end('<html>');
    if (provider.mode === 'limited') return void outgoing.writeHead(429, { 'retry-after': '3600' }).end();
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const method = incoming.method as ProviderRequest['method'];
      if (method !== 'GET') provider.changesLeft -= 1;
      const good = provider.changesLeft >= 0;
      const headers = { ...(incoming.headers as Record<string, string>), ...(!good && { authorization: 'revoked' }) };
      const url = new URL(incoming.url ?? '', 'https://api.cloudflare.com');
      const response = api.answer({ method, url, headers, body: Buffer.concat(chunks).toString() });
      outgoing.writeHead(response.status, response.headers as Record<string, string>).end(response.body);
    });
  });
  await listening(server, AT.provider, 443);
  return provider;
}

interface StubScanner extends AsyncDisposable {
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Rspamd as far as the box asks it: nothing is spam. */
export async function stubScanner(): Promise<StubScanner> {
  const answer = JSON.stringify({ action: 'no action', score: 0, required_score: 15, symbols: {} });
  const server = createHttpServer((incoming, outgoing) => {
    incoming.resume().on('end', () => outgoing.end(answer));
  });
  const start = (): Promise<void> => listening(server, SERVERS.scanner, 11_333);
  const stop = async (): Promise<void> => {
    if (server.listening) await closed(server);
  };
  await start();
  return { start, stop, [Symbol.asyncDispose]: stop };
}

async function listening(server: Server | ReturnType<typeof createServer>, host: string, port: number): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

async function closed(server: Server | ReturnType<typeof createServer>): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
