import { randomBytes } from 'node:crypto';
import type { World } from '../operations/world.ts';
import { exchangeCode } from './code-commands.ts';
import type { Form } from './form.ts';
import { ACCESS_LIFE_MS, refreshGrant } from './grant-commands.ts';
import { isOwnResource } from './metadata.ts';
import { challengeOf, hashOfSecret, makeSecret, startOf } from './secret.ts';

/** RFC 6749 5.2, RFC 7591 3.2.2, RFC 8707 2. */
export type OAuthError =
  | 'invalid_request'
  | 'invalid_grant'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'unsupported_grant_type';

interface Refusal {
  error: OAuthError;
  why: string;
}

/** RFC 6749 5.1. */
interface Tokens {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  refresh_token: string;
  scope: string;
}

type Granting = (world: World, form: Form, client: string, ip: string) => Promise<Tokens | Refusal>;

const GRANTS: Readonly<Record<string, Granting>> = { authorization_code: byCode, refresh_token: byRefresh };

/** Access and refresh tokens for a code or for an earlier refresh token. */
export async function grantTokens(world: World, form: Form | undefined, ip: string): Promise<Tokens | Refusal> {
  if (form === undefined) return invalid('Send a form: Content-Type: application/x-www-form-urlencoded.');
  if (form.isAmbiguous) return invalid('A parameter is there twice.');
  const type = form.one('grant_type') ?? '';
  const granting = Object.hasOwn(GRANTS, type) ? GRANTS[type] : undefined;
  if (granting === undefined) {
    return { error: 'unsupported_grant_type', why: 'grant_type is authorization_code or refresh_token.' };
  }
  const client = form.one('client_id');
  if (client === undefined) return invalid('client_id is missing.');
  const resource = form.one('resource');
  if (resource !== undefined && !isOwnResource(world.baseUrl(), resource)) {
    return { error: 'invalid_target', why: 'The resource is not this mail server.' };
  }
  return granting(world, form, client, ip);
}

async function byCode(world: World, form: Form, client: string, ip: string): Promise<Tokens | Refusal> {
  const prefix = world.settings.tokenPrefix;
  const hash = hashOfSecret('code', form.one('code') ?? '', prefix);
  if (hash === undefined) return { error: 'invalid_grant', why: 'The code is not one of this box.' };
  // One that cannot be a verifier fits no challenge; the code is used up all the same.
  const challenge = challengeOf(form.one('code_verifier') ?? '') ?? '';
  const { secrets, ...tokens } = newTokens(prefix);
  const done = await world.store.write(exchangeCode, {
    hash,
    client,
    redirectUri: form.one('redirect_uri') ?? null,
    challenge,
    secrets,
    placeholder: Uint8Array.from(randomBytes(32)),
    shown: startOf('access', prefix),
    ip,
  });
  return answered(done, tokens);
}

async function byRefresh(world: World, form: Form, client: string, ip: string): Promise<Tokens | Refusal> {
  const prefix = world.settings.tokenPrefix;
  const hash = hashOfSecret('refresh', form.one('refresh_token') ?? '', prefix);
  if (hash === undefined) return { error: 'invalid_grant', why: 'The refresh token is not one of this box.' };
  const { secrets, ...tokens } = newTokens(prefix);
  return answered(await world.store.write(refreshGrant, { hash, client, secrets, ip }), tokens);
}

type Made = Pick<Tokens, 'access_token' | 'refresh_token'>;

function newTokens(prefix: string): Made & { secrets: { access: Uint8Array; refresh: Uint8Array } } {
  const [access, refresh] = [makeSecret('access', prefix), makeSecret('refresh', prefix)];
  const secrets = { access: access.hash, refresh: refresh.hash };
  return { access_token: access.secret, refresh_token: refresh.secret, secrets };
}

function answered(
  done: { kind: 'granted'; actions: string[] } | { kind: 'refused'; why: string },
  { access_token, refresh_token }: Made,
): Tokens | Refusal {
  if (done.kind === 'refused') return { error: 'invalid_grant', why: `Not granted: ${done.why}.` };
  const expires_in = ACCESS_LIFE_MS / 1000;
  return { access_token, token_type: 'Bearer', expires_in, refresh_token, scope: done.actions.join(' ') };
}

function invalid(why: string): Refusal {
  return { error: 'invalid_request', why };
}
