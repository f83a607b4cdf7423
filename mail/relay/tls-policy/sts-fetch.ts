import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Resolver } from '../../dns/lookup.ts';
import { isPublicAddress } from '../../dns/public-address.ts';
import { responseTo } from '../../limits/http-response.ts';
import { type PublishedStsPolicy, readStsPolicy } from './sts-text.ts';

/** Reason for no policy, with the result types of RFC 8460 4.3.2.2. */
export interface StsFailure {
  failure: 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid';
  why: string;
}

export type FetchStsPolicy = (
  domain: string,
) => Promise<{ policy: PublishedStsPolicy; strings: string[] } | StsFailure>;

export interface StsFetchOptions {
  resolver: Resolver;
  /** True if connections to this private address are allowed. */
  allowPrivate(ip: string, port: number): boolean;
  /** HTTPS port: 443, except in tests. */
  port?: number;
  /** Timeout of the whole fetch, ms. RFC 8461 3.3 suggests a minute. */
  timeoutMs?: number;
}

const FETCH_TIMEOUT_MS = 60_000;
const MAX_POLICY_SIZE = 64 * 1024;
const MAX_ADDRESSES = 3;
/** TLS errors about the certificate. */
const CERTIFICATE = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_|ERR_TLS_CERT)/;

/**
 * Creates the fetcher of policies: HTTPS with a valid certificate, no redirects, and no private addresses (SSRF): a recipient
 * domain must not make this box connect to internal hosts. Never rejects. RFC 8461 3.3.
 */
export function createStsFetcher(options: StsFetchOptions): FetchStsPolicy {
  const { resolver, port = 443, timeoutMs = FETCH_TIMEOUT_MS } = options;
  return async (domain) => {
    const host = `mta-sts.${domain}`;
    const timeout = AbortSignal.timeout(timeoutMs);
    const ips = await Promise.race([addressesOf(resolver, host), aborted(timeout)]);
    if (ips === undefined) return fetchFailure('the DNS lookup timed out');
    if (ips.length === 0) return fetchFailure(`${host} has no address`);
    const allowed = ips.filter((ip) => isPublicAddress(ip) || options.allowPrivate(ip, port));
    if (allowed.length === 0) return fetchFailure(`${host} has a private address`);
    let last: FetchedText | StsFailure = fetchFailure('it is not reachable');
    for (const ip of allowed.slice(0, MAX_ADDRESSES)) {
      last = await fetchAt(host, ip, port, timeout);
      if ('text' in last || last.failure !== 'sts-policy-fetch-error' || timeout.aborted) break;
    }
    return 'text' in last ? parseFetched(last.text) : last;
  };
}

interface FetchedText {
  text: string;
}

async function addressesOf(resolver: Resolver, host: string): Promise<string[]> {
  const found = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  return found.flatMap((lookup) => (lookup.kind === 'found' ? [...lookup.records] : []));
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}

async function fetchAt(host: string, ip: string, port: number, signal: AbortSignal): Promise<FetchedText | StsFailure> {
  try {
    const answer = await requestPolicy(host, ip, port, signal);
    if (answer.statusCode !== 200) {
      answer.destroy();
      return fetchFailure(
        `${host} answered ${answer.statusCode ?? 'nothing'}; only 200 counts, and no redirect is followed`,
      );
    }
    // The media type is required, so that nobody can upload a policy as an image to a hosting site. RFC 8461 3.2.
    if (!/^text\/plain *(?:;|$)/i.test(answer.headers['content-type'] ?? '')) {
      answer.destroy();
      return { failure: 'sts-policy-invalid', why: 'the policy is not served as text/plain' };
    }
    return { text: await bodyOf(answer) };
  } catch (error) {
    if (signal.aborted) return fetchFailure(`${host} did not answer in time`);
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (CERTIFICATE.test(code)) {
      return { failure: 'sts-webpki-invalid', why: `the certificate of ${host} is not valid (${code})` };
    }
    return fetchFailure(
      error instanceof PolicyTooLarge ? 'the policy is larger than 64 KiB' : `the request to ${host} failed (${code})`,
    );
  }
}

function requestPolicy(host: string, ip: string, port: number, signal: AbortSignal): Promise<IncomingMessage> {
  const pinned: LookupFunction = (_name, options, done) => {
    const family = isIPv6(ip) ? 6 : 4;
    if (options.all === true) done(null, [{ address: ip, family }]);
    else done(null, ip, family);
  };
  const path = '/.well-known/mta-sts.txt';
  return responseTo(request({ host, servername: host, port, path, lookup: pinned, agent: false, signal }).end());
}

class PolicyTooLarge extends Error {}

async function bodyOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_POLICY_SIZE) throw new PolicyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('latin1');
}

function parseFetched(text: string): { policy: PublishedStsPolicy; strings: string[] } | StsFailure {
  const policy = readStsPolicy(text);
  if ('problem' in policy) return { failure: 'sts-policy-invalid', why: `the policy is invalid: ${policy.problem}` };
  const strings = text.split(/\r?\n/).map((line) => line.trim());
  return { policy, strings: strings.filter((line) => /^[\x20-\x7e]+$/.test(line)) };
}

function fetchFailure(why: string): StsFailure {
  return { failure: 'sts-policy-fetch-error', why };
}
