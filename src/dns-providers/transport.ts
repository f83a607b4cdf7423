import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { isPublicAddress } from '../../mail/dns/public-address.ts';
import { responseTo } from '../../mail/limits/http-response.ts';

import { DnsProviderError } from './provider-error.ts';

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface ProviderResponse {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

/** Sends one request to the API of a provider; rejects with {@link DnsProviderError} without a usable response. */
export type ProviderTransport = (what: ProviderRequest, signal: AbortSignal) => Promise<ProviderResponse>;

interface ProviderTransportOptions {
  resolver: Resolver;
  /** PEM of additional roots, for tests. */
  roots?: readonly string[];
  /** Tests if an address may be reached; by default only public ones. */
  mayReach?: (ip: string) => boolean;
  /** Timeout of one request, ms. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;
/** Octets of a response: the longest is a page of records. */
const MAX_BODY = 4 * 1024 * 1024;

/** Creates the transport: HTTPS with a valid certificate, names by the configured resolver, no redirects. */
export function createProviderTransport(options: ProviderTransportOptions): ProviderTransport {
  const { resolver, roots, mayReach = isPublicAddress, timeoutMs = TIMEOUT_MS } = options;
  const lookup = lookupAllowed(resolver, mayReach);
  return async ({ method, url, headers, body }, signal) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    try {
      const sent = { 'user-agent': 'Mailstead', accept: 'application/json', ...headers, ...length };
      const outgoing = { method, headers: sent, lookup, agent: false, signal: limit, ...(roots && { ca: [...roots] }) };
      const response = await responseTo(request(url, outgoing).end(body));
      return { status: response.statusCode ?? 0, headers: headersOf(response), body: await bodyOf(response, url.host) };
    } catch (error) {
      if (error instanceof DnsProviderError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      const why = limit.aborted ? 'did not answer in time' : `cannot be reached (${code ?? message.slice(0, 100)})`;
      throw new DnsProviderError('unavailable', `${url.host} ${why}. Try again later.`, { cause: error });
    }
  };
}

function headersOf({ headers }: IncomingMessage): ProviderResponse['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

async function bodyOf(response: IncomingMessage, host: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new DnsProviderError('unavailable', `${host} sent more than ${MAX_BODY} octets.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** IPv4 first: more machines have a route for it. */
function lookupAllowed(resolver: Resolver, mayReach: (ip: string) => boolean): LookupFunction {
  return (name, options, done) => {
    void Promise.all([resolver.a(name), resolver.aaaa(name)]).then((found) => {
      const all = found.flatMap((one) => (one.kind === 'found' ? one.records.filter(mayReach) : []));
      const [first] = all;
      if (first === undefined) return done(new Error(`${name} has no public address`), '', 0);
      if (options.all !== true) return done(null, first, isIPv6(first) ? 6 : 4);
      return done(
        null,
        all.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
      );
    });
  };
}
