import { type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { responseTo } from '../../mail/limits/http-response.ts';
import { AuthorityUnavailable, shortLine } from './acme-error.ts';

export interface AcmeRequest {
  method: 'GET' | 'HEAD' | 'POST';
  url: string;
  /** A signed request, as JSON. */
  body?: string;
}

export interface AcmeResponse {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

/** Sends one request to an authority; rejects with {@link AuthorityUnavailable} without a usable response. */
export type AcmeTransport = (what: AcmeRequest, signal: AbortSignal) => Promise<AcmeResponse>;

interface TransportOptions {
  resolver: Resolver;
  /** PEM of additional roots that the authority's own server may have, for tests. */
  roots?: readonly string[];
  /** Timeout of one request, ms. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
/** Octets of a response: the longest is a chain of certificates. */
const MAX_BODY = 256 * 1024;

/** Creates the transport: HTTPS with a valid certificate, names by the configured resolver, no redirects. */
export function createTransport({ resolver, roots, timeoutMs = TIMEOUT_MS }: TransportOptions): AcmeTransport {
  const lookup = lookupBy(resolver);
  return async ({ method, url, body }, signal) => {
    if (!url.startsWith('https://')) throw new AuthorityUnavailable(`its URL ${shortLine(url)} is not https`);
    const headers = {
      'user-agent': 'Mailstead',
      ...(body !== undefined && { 'content-type': 'application/jose+json', 'content-length': Buffer.byteLength(body) }),
    };
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const options = { method, headers, lookup, agent: false, signal: limit, ...(roots && { ca: [...roots] }) };
      const response = await responseTo(request(url, options).end(body));
      return { status: response.statusCode ?? 0, headers: headersOf(response), body: await bodyOf(response) };
    } catch (error) {
      if (error instanceof AuthorityUnavailable) throw error;
      throw new AuthorityUnavailable(reasonOf(error, limit, new URL(url).host), { cause: error });
    }
  };
}

function headersOf({ headers }: IncomingMessage): AcmeResponse['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new AuthorityUnavailable(`its response is larger than ${MAX_BODY} octets`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Certificate errors whose usual cause is a wrong clock of this machine. */
const CLOCK = /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/;

function reasonOf(error: unknown, limit: AbortSignal, host: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (limit.aborted) return `${host} did not answer in time`;
  if (CLOCK.test(code ?? ''))
    return `the certificate of ${host} is not valid now (${code}): check this machine's clock`;
  return `the request to ${host} failed (${code ?? shortLine(message)})`;
}

function lookupBy(resolver: Resolver): LookupFunction {
  return (name, options, done) => {
    void addressesOf(resolver, name).then(([first, ...others]) => {
      if (first === undefined) return done(new Error(`${name} has no address`), '', 0);
      const all = [first, ...others].map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
      return options.all === true ? done(null, all) : done(null, first, isIPv6(first) ? 6 : 4);
    });
  };
}

/** IPv4 first: more machines have a route for it. */
async function addressesOf(resolver: Resolver, name: string): Promise<string[]> {
  const found = await Promise.all([resolver.a(name), resolver.aaaa(name)]);
  return found.flatMap((one) => (one.kind === 'found' ? one.records : []));
}
