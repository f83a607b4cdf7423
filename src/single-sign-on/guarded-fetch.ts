import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { PrivateNetworks } from '../../config/parse.ts';
import { boundedResolver } from '../../mail/dns/bounded-resolver.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { responseTo } from '../../mail/limits/http-response.ts';
import { checkWebhookUrl } from '../webhooks/url-check.ts';

const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_FETCH_MS = 10_000;
const MAX_DNS_QUERIES = 8;

/** Networks that requests may reach, and the resolver that finds them. */
export interface FetchLimits {
  readonly resolver: Resolver;
  readonly allowed: PrivateNetworks;
}

interface FetchOptions {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: URLSearchParams | undefined;
}

/**
 * Fetches a URL of a provider: public addresses and those that the operator allows, no redirects, at most 10 seconds and
 * 256 KiB. The document of a provider names the other URLs, so each is checked (SSRF). Cost: linear in the octets.
 */
export async function guardedFetch(url: string, options: FetchOptions, limits: FetchLimits): Promise<Response> {
  const signal = AbortSignal.timeout(MAX_FETCH_MS);
  const lookups = boundedResolver(limits.resolver, { maxQuestions: MAX_DNS_QUERIES, timeoutMs: MAX_FETCH_MS });
  try {
    const target = await checkWebhookUrl(url, limits.allowed, lookups);
    if ('problem' in target) throw new Error(target.problem);
    const [ip] = target.addresses;
    if (ip === undefined) throw new Error(`${url} has no address`);
    const answer = await send(new URL(target.url), options, { ip, signal });
    return await responseOf(answer);
  } finally {
    lookups.close();
  }
}

function send(
  url: URL,
  { method = 'GET', headers = {}, body }: FetchOptions,
  { ip, signal }: { ip: string; signal: AbortSignal },
): Promise<IncomingMessage> {
  // Connects to the checked address: a second lookup could return another one (DNS rebinding).
  const pinned: LookupFunction = (_name, options, done) => {
    const family = isIPv6(ip) ? 6 : 4;
    if (options.all === true) done(null, [{ address: ip, family }]);
    else done(null, ip, family);
  };
  const request = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const text = body?.toString();
  const length = text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) };
  const sent = request(url, { method, headers: { ...headers, ...length }, lookup: pinned, agent: false, signal });
  return responseTo(sent.end(text));
}

async function responseOf(answer: IncomingMessage): Promise<Response> {
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} octets`);
      chunks.push(chunk);
    }
    const headers = { 'content-type': answer.headers['content-type'] ?? '' };
    return new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 502, headers });
  } finally {
    answer.destroy();
  }
}
