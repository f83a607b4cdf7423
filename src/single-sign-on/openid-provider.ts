import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type * as oauth from 'oauth4webapi';
import type { Settings } from '../../config/settings.ts';
import { type FetchLimits, guardedFetch } from './guarded-fetch.ts';

const METADATA_MS = 3_600_000;
/** Signatures of ID tokens that are accepted: neither none nor one with a shared secret. */
const ALGORITHMS = /^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA|Ed25519)$/;
/** Characters of a subject. OpenID Connect Core 2. */
const MAX_SUBJECT = 255;
/** Difference between the clocks, seconds. */
const TOLERANCE_S = 30;

export type SingleSignOn = NonNullable<Settings['singleSignOn']>;

/** A person as the ID token names them. */
export interface ProviderClaims {
  subject: string;
  /** Address that the provider has verified. */
  email: string | undefined;
}

/** The provider refused, or the person did: `code` is of the answer. */
export class ProviderDenial extends Error {}

interface Discovered {
  library: typeof oauth;
  server: oauth.AuthorizationServer;
  until: number;
}

/**
 * The OpenID provider of the server: authorization code with PKCE. State, nonce and code verifier derive from the secret of
 * a cookie, so that an answer counts in the browser that began. OpenID Connect Core 3.1, RFC 7636, RFC 9207.
 */
export class OpenIdProvider {
  readonly settings: SingleSignOn;
  readonly #limits: FetchLimits;
  readonly #clock: () => number;
  #discovered: Discovered | undefined;

  constructor(settings: SingleSignOn, limits: FetchLimits, clock: () => number) {
    this.settings = settings;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The URL to which a browser is sent. Rejects if the provider cannot be reached. */
  async authorizationUrl(secret: string, redirectUri: string): Promise<string> {
    const { library, server } = await this.#discover();
    const url = new URL(server.authorization_endpoint ?? '');
    const schemes = this.#insecure ? ['https:', 'http:'] : ['https:'];
    if (!schemes.includes(url.protocol)) throw new Error('the authorization endpoint is not https');
    const challenge = await library.calculatePKCECodeChallenge(derived(secret, 'verifier'));
    const query = {
      response_type: 'code',
      client_id: this.settings.clientId,
      redirect_uri: redirectUri,
      scope: 'openid email',
      state: derived(secret, 'state'),
      nonce: derived(secret, 'nonce'),
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Exchanges the answer of the provider for its claims. Rejects an answer that does not belong to the secret. */
  async claims(secret: string, answer: URLSearchParams, redirectUri: string): Promise<ProviderClaims> {
    const { library, server } = await this.#discover();
    const client = { client_id: this.settings.clientId, [library.clockTolerance]: TOLERANCE_S };
    const given = validated(library, { server, client, answer, state: derived(secret, 'state') });
    const options = this.#options(library);
    const verifier = derived(secret, 'verifier');
    const login = await this.#authentication(library, server);
    const response = await library.authorizationCodeGrantRequest(
      server,
      client,
      login,
      given,
      redirectUri,
      verifier,
      options,
    );
    const tokens = await library.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: derived(secret, 'nonce'),
      requireIdToken: true,
    });
    await library.validateApplicationLevelSignature(server, response, options);
    const claims = library.getValidatedIdTokenClaims(tokens);
    if (claims === undefined) throw new Error('the answer has no ID token');
    if (claims.sub.length > MAX_SUBJECT) throw new Error(`the subject has more than ${MAX_SUBJECT} characters`);
    return { subject: claims.sub, email: verifiedAddress(claims) };
  }

  async #discover(): Promise<Discovered> {
    const now = this.#clock();
    if (this.#discovered !== undefined && this.#discovered.until > now) return this.#discovered;
    // Loaded at the first sign-in: most servers have no provider.
    const library = await import('oauth4webapi');
    const issuer = new URL(this.settings.issuer);
    const response = await library.discoveryRequest(issuer, this.#options(library));
    const server = await library.processDiscoveryResponse(issuer, response);
    const offered = server.id_token_signing_alg_values_supported ?? ['RS256'];
    const algorithms = offered.filter((one) => ALGORITHMS.test(one));
    const known = { ...server, id_token_signing_alg_values_supported: algorithms };
    this.#discovered = { library, server: known, until: now + METADATA_MS };
    return this.#discovered;
  }

  /** True for a provider on this machine without TLS. */
  get #insecure(): boolean {
    return this.settings.issuer.startsWith('http:');
  }

  #options(library: typeof oauth) {
    const limits = this.#limits;
    return {
      [library.allowInsecureRequests]: this.#insecure,
      [library.customFetch]: (url: string, options: object) => guardedFetch(url, options, limits),
    };
  }

  async #authentication(library: typeof oauth, server: oauth.AuthorizationServer): Promise<oauth.ClientAuth> {
    const { clientSecret, clientSecretFile } = this.settings;
    const secret =
      clientSecretFile === undefined ? clientSecret : (await readFile(clientSecretFile, 'utf8')).replace(/\r?\n$/, '');
    if (secret === undefined) return library.None();
    // RFC 8414 2: client_secret_basic is the default.
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return methods.includes('client_secret_basic')
      ? library.ClientSecretBasic(secret)
      : library.ClientSecretPost(secret);
  }
}

/** Checks state and issuer of the answer. */
function validated(
  library: typeof oauth,
  {
    server,
    client,
    answer,
    state,
  }: { server: oauth.AuthorizationServer; client: oauth.Client; answer: URLSearchParams; state: string },
): URLSearchParams {
  try {
    return library.validateAuthResponse(server, client, answer, state);
  } catch (error) {
    if (error instanceof library.AuthorizationResponseError) throw new ProviderDenial(error.error, { cause: error });
    throw error;
  }
}

/** The address of a token, if the provider says that it is verified: text 'true' is not. */
function verifiedAddress({ email, email_verified: verified }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof email === 'string' && verified === true ? email : undefined;
}

function derived(secret: string, purpose: 'state' | 'nonce' | 'verifier'): string {
  return createHmac('sha256', secret).update(`provider ${purpose}`).digest('base64url');
}
