import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Claims = Record<string, unknown>;

/** Sign-in that a code stands for. */
interface Grant {
  challenge: string;
  redirectUri: string;
  claims: Claims;
  forge: Forgery;
}

/** Ways in which a token is wrong. */
export interface Forgery {
  alg?: 'RS256' | 'ES256' | 'none' | 'HS256';
  /** Signs with a key that the provider does not publish. */
  stranger?: boolean;
}

const CLIENT = { id: 'mailstead', secret: 'a secret: of % the client' };

/** An OpenID provider on loopback with claims and forgeries that a test chooses. */
export class FakeOpenIdProvider implements AsyncDisposable {
  readonly #keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  readonly #curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  readonly #grants = new Map<string, Grant>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  /** Paths that were requested. */
  readonly requests: string[] = [];
  issuer = '';
  /** Replaces members of the metadata. */
  metadata: Record<string, unknown> = {};

  static async start(): Promise<FakeOpenIdProvider> {
    const provider = new FakeOpenIdProvider();
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve));
    provider.issuer = `http://127.0.0.1:${(provider.#server.address() as AddressInfo).port}`;
    return provider;
  }

  get settings() {
    const { id: clientId, secret: clientSecret } = CLIENT;
    return { issuer: this.issuer, clientId, clientSecret, clientSecretFile: undefined, name: 'Example Login' };
  }

  /** The person signs in at an authorization URL: returns the query of the answer. */
  authorize(url: URL, claims: Claims, forge: Forgery = {}): URLSearchParams {
    const queried = url.searchParams;
    const code = `code-${this.#grants.size + 1}`;
    const now = Math.floor(Date.now() / 1000);
    const plain = { iss: this.issuer, aud: CLIENT.id, iat: now, exp: now + 300, nonce: queried.get('nonce') };
    this.#grants.set(code, {
      challenge: queried.get('code_challenge') ?? '',
      redirectUri: queried.get('redirect_uri') ?? '',
      claims: { ...plain, ...claims },
      forge,
    });
    return new URLSearchParams({ code, state: queried.get('state') ?? '', iss: this.issuer });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    this.requests.push(path);
    const body = await text(request);
    const json = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (path === '/.well-known/openid-configuration') json(200, this.#metadata());
    else if (path === '/jwks') json(200, this.#published());
    else if (path === '/token') this.#exchange(request, new URLSearchParams(body), json);
    else json(404, {});
  }

  #metadata(): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'none', 'HS256'],
      authorization_response_iss_parameter_supported: true,
      ...this.metadata,
    };
  }

  #published(): object {
    const of = (key: KeyObject, kid: string, alg: string): object => ({ ...key.export({ format: 'jwk' }), kid, alg });
    return { keys: [of(this.#keys.publicKey, 'RS256', 'RS256'), of(this.#curve.publicKey, 'ES256', 'ES256')] };
  }

  #exchange(request: IncomingMessage, form: URLSearchParams, json: (status: number, value: object) => void): void {
    const code = form.get('code') ?? '';
    const grant = this.#grants.get(code);
    this.#grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const login = Buffer.from((request.headers.authorization ?? '').slice('Basic '.length), 'base64').toString();
    const [id = '', secret = ''] = login.split(':').map((one) => decodeURIComponent(one.replaceAll('+', ' ')));
    if (id !== CLIENT.id || secret !== CLIENT.secret) return json(401, { error: 'invalid_client' });
    if (grant?.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) {
      return json(400, { error: 'invalid_grant' });
    }
    const token = this.#token(grant.claims, grant.forge);
    return json(200, { access_token: 'opaque', token_type: 'Bearer', id_token: token });
  }

  #token(claims: Claims, { alg = 'RS256', stranger = false }: Forgery): string {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg, kid: alg })}.${part(claims)}`;
    if (alg === 'none') return `${signed}.`;
    const rsa = stranger ? this.#stranger.privateKey : this.#keys.privateKey;
    const key = alg === 'ES256' ? ({ key: this.#curve.privateKey, dsaEncoding: 'ieee-p1363' } as const) : rsa;
    return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
