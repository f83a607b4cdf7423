import { createServer, request } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Random } from './random.ts';
import type { Pebble } from './pebble.ts';

/** Faults of a proxy before an authority. */
export interface AcmeProxyOptions {
  /** Share of requests that fail: refused, cut off, or answered with nonsense. */
  failing?: number;
  /** Renewal window of every certificate; left out: the directory has no renewalInfo. RFC 9773. */
  window?: () => { start: string; end: string };
}

export interface AcmeProxy extends AsyncDisposable {
  directory: string;
  /** Ids of certificates whose window was asked for. */
  queried: string[];
  /** Requests that failed. */
  failed: () => number;
}

/** Passes requests on to pebble, some of them badly, and offers renewal windows, which Debian's pebble does not have. */
export async function acmeProxy(pebble: Pebble, { failing = 0, window }: AcmeProxyOptions): Promise<AcmeProxy> {
  const random = new Random(7);
  const target = new URL(pebble.directory);
  const queried: string[] = [];
  let failed = 0;
  const server = createServer(pebble.server, (incoming, outgoing) => {
    const { url = '', method = 'GET', headers } = incoming;
    if (url.startsWith('/renewal-info/') && window !== undefined) {
      queried.push(url.slice('/renewal-info/'.length));
      outgoing.setHeader('retry-after', '60');
      return void outgoing.end(JSON.stringify({ suggestedWindow: window() }));
    }
    if (random.chance(failing)) {
      failed += 1;
      const kind = random.below(4);
      if (kind === 0) return void incoming.socket.destroy();
      outgoing.statusCode = [500, 503, 200][kind - 1] ?? 500;
      if (kind === 2) outgoing.setHeader('retry-after', '0');
      return void outgoing.end('<html>');
    }
    const ca = pebble.serverRoot;
    const passed = request({
      host: '127.0.0.1',
      port: target.port,
      servername: 'acme.test',
      path: url,
      method,
      headers,
      ca,
    });
    passed.on('error', () => incoming.socket.destroy());
    passed.on('response', (response) => {
      if (url !== '/dir' || window === undefined) {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        return void response.pipe(outgoing);
      }
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const found = JSON.parse(Buffer.concat(chunks).toString()) as object;
        outgoing.end(JSON.stringify({ ...found, renewalInfo: `https://${headers.host}/renewal-info` }));
      });
    });
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    directory: `https://acme.test:${(server.address() as AddressInfo).port}/dir`,
    queried,
    failed: () => failed,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
