import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Resolver } from '../../dns/lookup.ts';
import { isPublicAddress } from '../../dns/public-address.ts';
import { type PublishedPolicy, readStsPolicy } from './sts-text.ts';

/** Why there is no policy, in the words of RFC 8460 4.3.2.2. */
export interface NoPolicy {
  failure: 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid';
  why: string;
}

export type FetchStsPolicy = (domain: string) => Promise<{ policy: PublishedPolicy; strings: string[] } | NoPolicy>;

export interface StsFetchOptions {
  resolver: Resolver;
  /** Whether this box may connect to an address that is not public. */
  allowPrivate(ip: string, port: number): boolean;
  /** Where policies are served: 443, except in tests. */
  port?: number;
  /** Of the whole fetch, ms. RFC 8461 3.3 suggests a minute. */
  timeoutMs?: number;
}

const LONGEST_MS = 60_000;
const LARGEST = 64 * 1024;
const MOST_ADDRESSES = 3;
/** Of the errors of TLS, those that speak of the certificate. */
const CERTIFICATE = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_|ERR_TLS_CERT)/;

/**
 * Fetches policies: over HTTPS with a valid certificate, following no redirect, at addresses that are looked at first:
 * who may be written to must not be able to make this box ask the hosts around it. Never rejects. RFC 8461 3.3.
 */
export function stsFetcher(options: StsFetchOptions): FetchStsPolicy {
  const { resolver, port = 443, timeoutMs = LONGEST_MS } = options;
  return async (domain) => {
    const host = `mta-sts.${domain}`;
    const late = AbortSignal.timeout(timeoutMs);
    const ips = await Promise.race([addressesOf(resolver, host), aborted(late)]);
    if (ips === undefined) return none('the DNS did not answer in time');
    if (ips.length === 0) return none(`${host} has no address`);
    const allowed = ips.filter((ip) => isPublicAddress(ip) || options.allowPrivate(ip, port));
    if (allowed.length === 0) return none(`${host} has a private address`);
    let last: Fetched | NoPolicy = none('there is no way to it');
    for (const ip of allowed.slice(0, MOST_ADDRESSES)) {
      last = await fetchAt(host, ip, port, late);
      if ('text' in last || last.failure !== 'sts-policy-fetch-error' || late.aborted) break;
    }
    return 'text' in last ? understood(last.text) : last;
  };
}

interface Fetched {
  text: string;
}

async function addressesOf(resolver: Resolver, host: string): Promise<string[]> {
  const found = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  return found.flatMap((lookup) => (lookup.kind === 'found' ? [...lookup.records] : []));
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}

async function fetchAt(host: string, ip: string, port: number, signal: AbortSignal): Promise<Fetched | NoPolicy> {
  try {
    const answer = await get(host, ip, port, signal);
    if (answer.statusCode !== 200) {
      answer.destroy();
      return none(`${host} answered ${answer.statusCode ?? 'nothing'}; only 200 counts, and no redirect is followed`);
    }
    // RFC 8461 3.2: so that nobody can put a policy up as a picture where strangers may upload.
    if (!/^text\/plain *(?:;|$)/i.test(answer.headers['content-type'] ?? '')) {
      answer.destroy();
      return { failure: 'sts-policy-invalid', why: 'the policy is not served as text/plain' };
    }
    return { text: await bodyOf(answer) };
  } catch (error) {
    if (signal.aborted) return none(`${host} did not answer in time`);
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (CERTIFICATE.test(code)) {
      return { failure: 'sts-webpki-invalid', why: `the certificate of ${host} is not valid (${code})` };
    }
    return none(
      error instanceof TooLarge ? 'the policy is larger than 64 KiB' : `${host} could not be asked (${code})`,
    );
  }
}

function get(host: string, ip: string, port: number, signal: AbortSignal): Promise<IncomingMessage> {
  const pinned: LookupFunction = (_name, options, done) => {
    const family = isIPv6(ip) ? 6 : 4;
    if (options.all === true) done(null, [{ address: ip, family }]);
    else done(null, ip, family);
  };
  return new Promise((resolve, reject) => {
    request(
      { host, servername: host, port, path: '/.well-known/mta-sts.txt', lookup: pinned, agent: false, signal },
      resolve,
    )
      .on('error', reject)
      .end();
  });
}

class TooLarge extends Error {}

async function bodyOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST) throw new TooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('latin1');
}

function understood(text: string): { policy: PublishedPolicy; strings: string[] } | NoPolicy {
  const policy = readStsPolicy(text);
  if ('problem' in policy) return { failure: 'sts-policy-invalid', why: `the policy is not sound: ${policy.problem}` };
  const strings = text.split(/\r?\n/).map((line) => line.trim());
  return { policy, strings: strings.filter((line) => /^[\x20-\x7e]+$/.test(line)) };
}

function none(why: string): NoPolicy {
  return { failure: 'sts-policy-fetch-error', why };
}
