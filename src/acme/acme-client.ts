import type { AccountKey } from './account-key.ts';
import { AcmeProblem, AuthorityUnavailable, shortLine, readAcmeProblem, retryAfterMs } from './acme-error.ts';
import type { AcmeResponse, AcmeTransport } from './transport.ts';

/** URLs of an authority. RFC 8555 7.1.1, RFC 9773 3. */
interface AcmeDirectory {
  newNonce: string;
  newAccount: string;
  newOrder: string;
  /** Left out: no ARI. */
  renewalInfo?: string;
}

export interface AcmeClientOptions {
  directoryUrl: string;
  key: AccountKey;
  /** URL of the account, if it is registered. */
  account: string | undefined;
  /** Mail address of the account's contact. */
  contact: string;
  transport: AcmeTransport;
  clock: () => number;
  /** Resolves after `ms`, rejects when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called when the account was registered. */
  registered: (url: string) => Promise<void>;
  /** Pause before a failed request is sent again, ms. */
  retryMs?: number;
}

/** A JSON object of the authority, with the URL that its Location header names. */
export interface AcmeResource {
  body: Readonly<Record<string, unknown>>;
  location: string | undefined;
  retryAfterMs: number | undefined;
}

/** Requests in a row whose nonce the authority refuses: with half of all refused, all of them are once in a million. */
const MAX_NONCE_RETRIES = 20;
const MAX_NONCES = 10;
/** Attempts of one request that gets no usable response. */
const MAX_ATTEMPTS = 3;
const RETRY_MS = 2_000;

/** A client of RFC 8555: signed requests with nonces, and the account. One request at a time. */
export class AcmeClient {
  readonly #options: AcmeClientOptions;
  #directory: AcmeDirectory | undefined;
  #account: string | undefined;
  #nonces: string[] = [];
  /** Difference of this machine's clock to the authority's, ms; undefined: unknown. */
  skewMs: number | undefined;

  constructor(options: AcmeClientOptions) {
    this.#options = options;
    this.#account = options.account;
  }

  get key(): AccountKey {
    return this.#options.key;
  }

  /** Sleeps between two polls. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#options.sleep(ms, signal);
  }

  async directory(signal: AbortSignal): Promise<AcmeDirectory> {
    if (this.#directory !== undefined) return this.#directory;
    const found = (await this.fetchJson(this.#options.directoryUrl, signal)).body;
    const { newNonce, newAccount, newOrder, renewalInfo } = found;
    if (typeof newNonce !== 'string' || typeof newAccount !== 'string' || typeof newOrder !== 'string') {
      throw new AuthorityUnavailable(
        'its directory does not have the URLs of RFC 8555: check MAILSTEAD_ACME_DIRECTORY',
      );
    }
    this.#directory = { newNonce, newAccount, newOrder, ...(typeof renewalInfo === 'string' && { renewalInfo }) };
    return this.#directory;
  }

  /** Fetches a document that needs no account. */
  fetchJson(url: string, signal: AbortSignal): Promise<AcmeResource> {
    return this.#repeated(signal, async () => {
      const response = this.#checked(await this.#options.transport({ method: 'GET', url }, signal));
      if (response.status >= 300) throw this.#problem(response);
      return this.#resource(response);
    });
  }

  /** Sends a signed request of the account, registered at the first one; '' as payload only reads. */
  post(url: string, payload: object | '', signal: AbortSignal): Promise<AcmeResource> {
    return this.#repeated(signal, async () => this.#resource(await this.#postAsAccount(url, payload, signal)));
  }

  /** Downloads a certificate chain. RFC 8555 7.4.2. */
  download(url: string, signal: AbortSignal): Promise<string> {
    return this.#repeated(signal, async () => {
      const { body, headers } = await this.#postAsAccount(url, '', signal);
      if (!/^application\/pem-certificate-chain *(?:;|$)/i.test(headers['content-type'] ?? '')) {
        throw new AuthorityUnavailable('it sent something else than a certificate chain');
      }
      return body;
    });
  }

  /** Sends a request again that got no usable response: a lost one would cost the whole order. */
  async #repeated<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send();
      } catch (error) {
        if (signal.aborted || attempt >= MAX_ATTEMPTS || !isPassing(error)) throw error;
        await this.sleep(this.#options.retryMs ?? RETRY_MS, signal);
      }
    }
  }

  async #postAsAccount(url: string, payload: object | '', signal: AbortSignal): Promise<AcmeResponse> {
    try {
      return await this.#signed(url, payload, signal, await this.#register(signal));
    } catch (error) {
      // The authority lost the account, or the directory now belongs to another one.
      if (!(error instanceof AcmeProblem) || error.type !== 'accountDoesNotExist') throw error;
      this.#account = undefined;
      return this.#signed(url, payload, signal, await this.#register(signal));
    }
  }

  async #register(signal: AbortSignal): Promise<string> {
    if (this.#account !== undefined) return this.#account;
    const { newAccount } = await this.directory(signal);
    const payload = { termsOfServiceAgreed: true, contact: [`mailto:${this.#options.contact}`] };
    const { location } = this.#resource(await this.#signed(newAccount, payload, signal, undefined));
    if (location === undefined) throw new AuthorityUnavailable('it registered an account without a URL');
    await this.#options.registered(location);
    this.#account = location;
    return location;
  }

  async #signed(
    url: string,
    payload: object | '',
    signal: AbortSignal,
    kid: string | undefined,
  ): Promise<AcmeResponse> {
    const { key, transport } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const nonce = this.#nonces.pop() ?? (await this.#newNonce(signal));
      const body = key.sign({ nonce, url, ...(kid !== undefined && { kid }) }, payload);
      const response = this.#checked(await transport({ method: 'POST', url, body }, signal));
      if (response.status < 400) return response;
      const problem = this.#problem(response);
      // RFC 8555 6.5: the response has a new nonce.
      if (problem.type !== 'badNonce' || attempt >= MAX_NONCE_RETRIES) throw problem;
    }
  }

  async #newNonce(signal: AbortSignal): Promise<string> {
    const { newNonce } = await this.directory(signal);
    this.#checked(await this.#options.transport({ method: 'HEAD', url: newNonce }, signal));
    const nonce = this.#nonces.pop();
    if (nonce === undefined) throw new AuthorityUnavailable('it gave no nonce');
    return nonce;
  }

  /** Keeps the nonce and the clock of a response. */
  #checked(response: AcmeResponse): AcmeResponse {
    const nonce = response.headers['replay-nonce'];
    if (nonce !== undefined && /^[\w-]{1,200}$/.test(nonce)) this.#nonces = [...this.#nonces, nonce].slice(-MAX_NONCES);
    const date = Date.parse(response.headers['date'] ?? '');
    if (!Number.isNaN(date)) this.skewMs = this.#options.clock() - date;
    return response;
  }

  #problem({ status, body, headers }: AcmeResponse): AcmeProblem {
    const pause = retryAfterMs(headers['retry-after'], this.#options.clock());
    return readAcmeProblem(status, parsed(body), pause);
  }

  #resource(response: AcmeResponse): AcmeResource {
    return {
      body: jsonOf(response),
      location: response.headers['location'],
      retryAfterMs: retryAfterMs(response.headers['retry-after'], this.#options.clock()),
    };
  }
}

/** True for what may be gone at the next attempt; a pause that the authority demands is none of that. */
function isPassing(error: unknown): boolean {
  if (error instanceof AcmeProblem) return error.status >= 500 && (error.retryAfterMs ?? 0) === 0;
  return error instanceof AuthorityUnavailable;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function jsonOf({ body }: AcmeResponse): Readonly<Record<string, unknown>> {
  const value = parsed(body);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new AuthorityUnavailable(`its response is no JSON object: ${shortLine(body.slice(0, 60))}`);
}
