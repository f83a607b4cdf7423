import { randomBytes } from 'node:crypto';
import type { AppContext } from '../core/app-context.ts';
import { exchangeCode } from './code-commands.ts';
import { ACCESS_LIFE_MS, refreshGrant } from './grant-commands.ts';
import { isOwnResource } from './metadata.ts';
import { challengeOf, hashOfSecret, makeSecret, startOf } from '../tokens/oauth-secret.ts';

/** RFC 6749 5.2, RFC 7591 3.2.2, RFC 8707 2. */
export type OAuthError =
  | 'invalid_request'
  | 'invalid_grant'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'unsupported_grant_type';

interface OAuthRefusal {
  error: OAuthError;
  why: string;
}

/** RFC 6749 5.1. */
interface OAuthTokens {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  refresh_token: string;
  scope: string;
}

type Granting = (
  context: AppContext,
  form: FormFields,
  client: string,
  ip: string,
) => Promise<OAuthTokens | OAuthRefusal>;

const GRANTS: Readonly<Record<string, Granting>> = { authorization_code: byCode, refresh_token: byRefresh };

/** Issues access and refresh tokens for a code or a refresh token. */
export async function grantTokens(
  context: AppContext,
  form: FormFields | undefined,
  ip: string,
): Promise<OAuthTokens | OAuthRefusal> {
  if (form === undefined) return invalid('Send a form: Content-Type: application/x-www-form-urlencoded.');
  if (form.isAmbiguous) return invalid('A parameter is repeated.');
  const type = form.one('grant_type') ?? '';
  const granting = Object.hasOwn(GRANTS, type) ? GRANTS[type] : undefined;
  if (granting === undefined) {
    return { error: 'unsupported_grant_type', why: 'grant_type must be authorization_code or refresh_token.' };
  }
  const client = form.one('client_id');
  if (client === undefined) return invalid('client_id is missing.');
  const resource = form.one('resource');
  if (resource !== undefined && !isOwnResource(context.baseUrl(), resource)) {
    return { error: 'invalid_target', why: 'The resource is not this mail server.' };
  }
  return granting(context, form, client, ip);
}

async function byCode(
  context: AppContext,
  form: FormFields,
  client: string,
  ip: string,
): Promise<OAuthTokens | OAuthRefusal> {
  const prefix = context.settings.tokenPrefix;
  const hash = hashOfSecret('code', form.one('code') ?? '', prefix);
  if (hash === undefined) return { error: 'invalid_grant', why: 'Unknown code.' };
  // A malformed verifier matches no challenge; the code is used up all the same.
  const challenge = challengeOf(form.one('code_verifier') ?? '') ?? '';
  const { secrets, ...tokens } = newTokens(prefix);
  const done = await context.store.write(exchangeCode, {
    hash,
    client,
    redirectUri: form.one('redirect_uri') ?? null,
    challenge,
    secrets,
    placeholder: Uint8Array.from(randomBytes(32)),
    shown: startOf('access', prefix),
    ip,
  });
  return tokenResponse(done, tokens);
}

async function byRefresh(
  context: AppContext,
  form: FormFields,
  client: string,
  ip: string,
): Promise<OAuthTokens | OAuthRefusal> {
  const prefix = context.settings.tokenPrefix;
  const hash = hashOfSecret('refresh', form.one('refresh_token') ?? '', prefix);
  if (hash === undefined) return { error: 'invalid_grant', why: 'Unknown refresh token.' };
  const { secrets, ...tokens } = newTokens(prefix);
  return tokenResponse(await context.store.write(refreshGrant, { hash, client, secrets, ip }), tokens);
}

type IssuedTokens = Pick<OAuthTokens, 'access_token' | 'refresh_token'>;

function newTokens(prefix: string): IssuedTokens & { secrets: { access: Uint8Array; refresh: Uint8Array } } {
  const [access, refresh] = [makeSecret('access', prefix), makeSecret('refresh', prefix)];
  const secrets = { access: access.hash, refresh: refresh.hash };
  return { access_token: access.secret, refresh_token: refresh.secret, secrets };
}

function tokenResponse(
  done: { kind: 'granted'; actions: string[] } | { kind: 'refused'; why: string },
  { access_token, refresh_token }: IssuedTokens,
): OAuthTokens | OAuthRefusal {
  if (done.kind === 'refused') return { error: 'invalid_grant', why: `Not granted: ${done.why}.` };
  const expires_in = ACCESS_LIFE_MS / 1000;
  return { access_token, token_type: 'Bearer', expires_in, refresh_token, scope: done.actions.join(' ') };
}

function invalid(why: string): OAuthRefusal {
  return { error: 'invalid_request', why };
}

/** Fields of an urlencoded form. */
export class FormFields {
  readonly #fields: URLSearchParams;

  constructor(body: string) {
    this.#fields = new URLSearchParams(body);
  }

  /** True if a field is repeated, which parsers read differently. RFC 6749 3.2. */
  get isAmbiguous(): boolean {
    const names = [...this.#fields.keys()];
    return new Set(names).size !== names.length;
  }

  /** The value of a field; undefined if missing, empty or repeated. */
  one(name: string): string | undefined {
    const all = this.#fields.getAll(name);
    return all.length === 1 && all[0] !== '' ? all[0] : undefined;
  }
}
