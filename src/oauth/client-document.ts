import type { IncomingMessage } from 'node:http';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { PrivateNetworks } from '../../config/parse.ts';
import { boundedResolver } from '../../mail/dns/bounded-resolver.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { parseBounded } from '../http/json.ts';
import { judgeWebhookUrl } from '../sending/webhook-url.ts';
import type { Client } from './client-commands.ts';
import { readMetadata } from './client-metadata.ts';

const LARGEST = 16 * 1024;
const LONGEST_MS = 5_000;
const MOST_QUESTIONS = 8;

export type FoundClient = { readonly client: Client } | { readonly problem: string };

/** Whether a client_id is the URL of a metadata document. */
export function isDocumentId(id: string): boolean {
  return /^https?:\/\//.test(id);
}

/**
 * Asks for the metadata document that a client_id names: at public addresses only, without following redirects, within
 * 5 seconds and 16 KiB, because a stranger says where. draft-ietf-oauth-client-id-metadata-document 3 to 6.
 */
export async function fetchClient(
  id: string,
  { resolver, allowed, longestMs = LONGEST_MS }: { resolver: Resolver; allowed: PrivateNetworks; longestMs?: number },
): Promise<FoundClient> {
  const why = unsuitable(id);
  if (why !== undefined) return { problem: why };
  const late = AbortSignal.timeout(longestMs);
  const asking = boundedResolver(resolver, { questions: MOST_QUESTIONS, timeoutMs: longestMs });
  try {
    const judged = await judgeWebhookUrl(id, allowed, asking);
    if ('problem' in judged) return { problem: judged.problem };
    const [ip] = judged.addresses;
    if (ip === undefined) return { problem: 'its host has no address' };
    const text = await get(new URL(judged.url), ip, late);
    return typeof text === 'string' ? understood(id, text) : text;
  } catch {
    return { problem: late.aborted ? 'its host did not answer in time' : 'its host could not be asked' };
  } finally {
    asking.close();
  }
}

/** One URL has one spelling here, so that two clients are never taken for one. */
function unsuitable(id: string): string | undefined {
  if (!URL.canParse(id)) return 'the client_id is no URL';
  const url = new URL(id);
  if (url.href !== id) return 'the client_id is not written as URLs are';
  return url.pathname === '/' ? 'the client_id has no path' : undefined;
}

async function get(url: URL, ip: string, signal: AbortSignal): Promise<string | { problem: string }> {
  const answer = await ask(url, ip, signal);
  try {
    if (answer.statusCode !== 200) {
      return { problem: `its host answered ${answer.statusCode ?? 'nothing'}; no redirect is followed` };
    }
    if (!/^application\/(?:[a-z0-9.-]+\+)?json *(?:;|$)/i.test(answer.headers['content-type'] ?? '')) {
      return { problem: 'its document is not served as JSON' };
    }
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > LARGEST) return { problem: `its document is larger than ${LARGEST} octets` };
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    answer.destroy();
  }
}

function ask(url: URL, ip: string, signal: AbortSignal): Promise<IncomingMessage> {
  // The address that was judged and no other: names change between two questions.
  const pinned: LookupFunction = (_name, options, done) => {
    const family = isIPv6(ip) ? 6 : 4;
    if (options.all === true) done(null, [{ address: ip, family }]);
    else done(null, ip, family);
  };
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    send(url, { headers: { accept: 'application/json' }, lookup: pinned, agent: false, signal }, resolve)
      .on('error', reject)
      .end();
  });
}

function understood(id: string, text: string): FoundClient {
  const parsed = parseBounded(text);
  if (!parsed.ok) return { problem: 'its document is no JSON' };
  const { value } = parsed;
  const given = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  // Who serves a copy of another client's document does not become that client.
  if (given['client_id'] !== id) return { problem: 'its document names another client_id' };
  if ('client_secret' in given) return { problem: 'its document has a secret, which everybody can read' };
  const method = given['token_endpoint_auth_method'] ?? 'none';
  if (method !== 'none') return { problem: 'it wants to authenticate in a way that is not there' };
  const read = readMetadata(value);
  if ('error' in read) return { problem: read.why };
  return { client: { id, name: read.name, redirectUris: read.redirectUris, host: new URL(id).host } };
}
