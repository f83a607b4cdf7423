import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { PrivateNetworks } from '../../config/parse.ts';
import { boundedResolver } from '../../mail/dns/bounded-resolver.ts';
import { responseTo } from '../../mail/limits/http-response.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { parseBounded } from '../core/json.ts';
import { checkWebhookUrl } from '../webhooks/url-check.ts';
import type { Client } from './client-commands.ts';
import { redirectProblem } from './redirect-uri.ts';

const MAX_DOCUMENT_BYTES = 16 * 1024;
const MAX_FETCH_MS = 5_000;
const MAX_DNS_QUERIES = 8;

export type ClientLookup = { readonly client: Client } | { readonly problem: string };

/** True if a client_id is the URL of a metadata document. */
export function isDocumentId(id: string): boolean {
  return /^https?:\/\//.test(id);
}

/**
 * Fetches the metadata document of a client_id: public addresses only, no redirects, at most 5 seconds and 16 KiB (SSRF). draft-ietf-oauth-client-id-metadata-document 3 to 6.
 */
export async function fetchClient(
  id: string,
  { resolver, allowed, timeoutMs = MAX_FETCH_MS }: { resolver: Resolver; allowed: PrivateNetworks; timeoutMs?: number },
): Promise<ClientLookup> {
  const why = urlProblem(id);
  if (why !== undefined) return { problem: why };
  const late = AbortSignal.timeout(timeoutMs);
  const lookups = boundedResolver(resolver, { maxQuestions: MAX_DNS_QUERIES, timeoutMs });
  try {
    const target = await checkWebhookUrl(id, allowed, lookups);
    if ('problem' in target) return { problem: target.problem };
    const [ip] = target.addresses;
    if (ip === undefined) return { problem: 'its host has no address' };
    const text = await fetchDocument(new URL(target.url), ip, late);
    return typeof text === 'string' ? parseDocument(id, text) : text;
  } catch {
    return { problem: late.aborted ? 'its host did not answer in time' : 'its host is unreachable' };
  } finally {
    lookups.close();
  }
}

/** Requires the canonical form of the URL, so that two client_ids never name the same client. */
function urlProblem(id: string): string | undefined {
  if (!URL.canParse(id)) return 'the client_id is not a URL';
  const url = new URL(id);
  if (url.href !== id) return 'the client_id is not a canonical URL';
  return url.pathname === '/' ? 'the client_id has no path' : undefined;
}

async function fetchDocument(url: URL, ip: string, signal: AbortSignal): Promise<string | { problem: string }> {
  const response = await sendRequest(url, ip, signal);
  try {
    if (response.statusCode !== 200) {
      return { problem: `its host returned status ${response.statusCode ?? 'none'}; redirects are not followed` };
    }
    if (!/^application\/(?:[a-z0-9.-]+\+)?json *(?:;|$)/i.test(response.headers['content-type'] ?? '')) {
      return { problem: 'its document is not served as JSON' };
    }
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_DOCUMENT_BYTES) return { problem: `its document is larger than ${MAX_DOCUMENT_BYTES} octets` };
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    response.destroy();
  }
}

function sendRequest(url: URL, ip: string, signal: AbortSignal): Promise<IncomingMessage> {
  // Connects to the checked address: a second lookup could return another one (DNS rebinding).
  const pinned: LookupFunction = (_name, options, done) => {
    const family = isIPv6(ip) ? 6 : 4;
    if (options.all === true) done(null, [{ address: ip, family }]);
    else done(null, ip, family);
  };
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const headers = { accept: 'application/json' };
  return responseTo(send(url, { headers, lookup: pinned, agent: false, signal }).end());
}

function parseDocument(id: string, text: string): ClientLookup {
  const parsed = parseBounded(text);
  if (!parsed.ok) return { problem: 'its document is not JSON' };
  const { value } = parsed;
  const given = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  // A copy of another client's document does not prove that identity.
  if (given['client_id'] !== id) return { problem: 'its document names another client_id' };
  if ('client_secret' in given) return { problem: 'its document contains a client_secret, which is public there' };
  const method = given['token_endpoint_auth_method'] ?? 'none';
  if (method !== 'none') return { problem: 'its token_endpoint_auth_method is not supported' };
  const read = readMetadata(value);
  if ('error' in read) return { problem: read.why };
  return { client: { id, name: read.name, redirectUris: read.redirectUris, host: new URL(id).host } };
}

const MAX_REDIRECT_URIS = 20;
const MAX_NAME = 60;
/** Invisible and control characters, which make one name look like another. */
const DECEPTIVE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]+/gu;

/** The client metadata that is used. RFC 7591 2. */
interface ClientMetadata {
  name: string;
  redirectUris: string[];
}

type MetadataResult = ClientMetadata | { error: 'invalid_redirect_uri' | 'invalid_client_metadata'; why: string };

/** Reads client metadata from a registration or a document. Accepts public clients with authorization codes only. */
export function readMetadata(value: unknown): MetadataResult {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return invalidMetadata('the metadata is not a JSON object');
  const given = value as Readonly<Record<string, unknown>>;
  const uris = given['redirect_uris'];
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS) {
    return { error: 'invalid_redirect_uri', why: `redirect_uris must list 1 to ${MAX_REDIRECT_URIS} URIs` };
  }
  for (const uri of uris as unknown[]) {
    const problem = typeof uri === 'string' ? redirectProblem(uri) : 'is not a string';
    if (problem !== undefined) return { error: 'invalid_redirect_uri', why: `a redirect_uri ${problem}` };
  }
  if (!offers(given['grant_types'], 'authorization_code'))
    return invalidMetadata('grant_types must include authorization_code');
  if (!offers(given['response_types'], 'code')) return invalidMetadata('response_types must include code');
  return { name: nameOf(given['client_name']), redirectUris: uris as string[] };
}

function offers(list: unknown, wanted: string): boolean {
  return list === undefined || (Array.isArray(list) && list.includes(wanted));
}

function invalidMetadata(why: string): MetadataResult {
  return { error: 'invalid_client_metadata', why };
}

/** The name on one line, without deceptive characters. */
function nameOf(value: unknown): string {
  const text = typeof value === 'string' ? value.slice(0, 4 * MAX_NAME).toWellFormed() : '';
  const plain = text.normalize('NFC').replace(DECEPTIVE, ' ').replace(/\s+/g, ' ').trim();
  return plain === '' ? 'Unnamed program' : plain.slice(0, MAX_NAME).toWellFormed();
}
