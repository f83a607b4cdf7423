import { textIn } from './clients/xml-elements.ts';
import type { z } from 'zod';
import type { ClientTools } from './zone-client.ts';
import { DnsProviderError } from './provider-error.ts';
import type { ProviderRequest, ProviderResponse } from './transport.ts';

/** Waiting that a provider may demand before a request is repeated at once. */
const MAX_WAIT_MS = 10_000;
const MAX_REPEATS = 2;
const MAX_WORDS = 200;
/** Longest wait that is reported. */
const MAX_RETRY_AFTER_S = 86_400;

export interface ApiOptions {
  title: string;
  base: string;
  /** Headers of a request: some providers sign each one. */
  headers: (request: { method: string; url: URL; body: string }) => Record<string, string>;
  /** The rights that the token needs. */
  scope: string;
  tools: ClientTools;
  contentType?: string;
}

/** Requests to the JSON API of a provider, with its failures as sentences. */
export class ProviderApi {
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** Sends a request and reads the answer; undefined: 404. */
  async find<T>(schema: z.ZodType<T>, method: ProviderRequest['method'], path: string, body?: object) {
    const response = await this.send(method, path, body === undefined ? undefined : JSON.stringify(body));
    return response.status === 404 ? undefined : { value: this.#read(schema, response), headers: response.headers };
  }

  /** Sends a request whose target exists. */
  async call<T>(schema: z.ZodType<T>, method: ProviderRequest['method'], path: string, body?: object): Promise<T> {
    const found = await this.find(schema, method, path, body);
    return found === undefined ? this.#reject('404', '') : found.value;
  }

  /** Sends a request, again when the provider asks for a short wait; any other status than 2xx and 404 rejects. */
  async send(method: ProviderRequest['method'], path: string, body?: string): Promise<ProviderResponse> {
    for (let repeats = 0; ; repeats++) {
      const response = await this.#send(method, path, body);
      if (response.status !== 429) return this.#checked(response);
      const waitMs = providerRetryAfterMs(response);
      const { title, tools } = this.#options;
      if (repeats === MAX_REPEATS || waitMs > MAX_WAIT_MS) {
        const seconds = Math.ceil(waitMs / 1000);
        const message = `${title} accepts no more requests now (HTTP 429). Try again in ${seconds} seconds.`;
        throw new DnsProviderError('limited', message, { retryAfterMs: waitMs });
      }
      await tools.sleep(waitMs);
    }
  }

  #send(method: ProviderRequest['method'], path: string, body?: string): Promise<ProviderResponse> {
    const { base, headers, tools, contentType = 'application/json' } = this.#options;
    const url = new URL(`${base}${path}`);
    const all = headers({ method, url, body: body ?? '' });
    const content = body === undefined ? {} : { 'content-type': contentType };
    return tools.transport({ method, url, headers: { ...content, ...all }, ...(body && { body }) }, tools.signal);
  }

  #checked(response: ProviderResponse): ProviderResponse {
    const { title, scope } = this.#options;
    const { status } = response;
    if ((status >= 200 && status < 300) || status === 404) return response;
    const words = wordsOf(response.body);
    if (status === 401 || status === 403) {
      const message = `${title} refused the credentials (HTTP ${status}${words}). They need: ${scope}. Connect again with others.`;
      throw new DnsProviderError('refused', message);
    }
    if (status >= 500) {
      throw new DnsProviderError('unavailable', `${title} failed (HTTP ${status}${words}). Try again later.`);
    }
    return this.#reject(String(status), words);
  }

  #reject(status: string, words: string): never {
    throw new DnsProviderError('rejected', `${this.#options.title} rejected the request (HTTP ${status}${words}).`);
  }

  #read<T>(schema: z.ZodType<T>, { body, status }: ProviderResponse): T {
    const parsed = schema.safeParse(status === 204 || body === '' ? {} : jsonOf(body));
    if (parsed.success) return parsed.data;
    const message = `${this.#options.title} sent an answer that cannot be read. Try again later.`;
    throw new DnsProviderError('unavailable', message, { cause: parsed.error });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads seconds or a date. RFC 9110 10.2.3. */
export function providerRetryAfterMs({ headers }: Pick<ProviderResponse, 'headers'>, now = Date.now()): number {
  const text = (headers['retry-after'] ?? '').slice(0, 40);
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_S) * 1000 : 60_000;
}

/** The provider's own words, on one line and short: others may have written part of them. */
export function wordsOf(body: string): string {
  const parsed = jsonOf(body.slice(0, 10_000));
  const found = messageIn(parsed) ?? textIn(body.slice(0, 10_000), 'Message');
  const plain = found
    .slice(0, MAX_WORDS)
    .toWellFormed()
    .replace(/[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+/g, ' ');
  return plain === '' ? '' : `: ${plain}`;
}

function messageIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { message, detail, error, errors, cause } = value as Record<string, unknown>;
  for (const one of [message, detail, cause, error]) if (typeof one === 'string') return one;
  return messageIn(error) ?? messageIn(Array.isArray(errors) ? errors[0] : undefined);
}
