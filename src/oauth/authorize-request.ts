import { type Action, ACTIONS } from '../core/token.ts';
import type { Client } from './client-commands.ts';
import type { ClientLookup } from './client-document.ts';
import { isOwnResource } from './metadata.ts';
import { isRegistered, redirectProblem } from './redirect-uri.ts';
import { isChallenge } from '../tokens/oauth-secret.ts';

/** Supported parameters of the authorization endpoint. */
export const PARAMETERS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'resource',
] as const;
export type AuthorizeParameters = Readonly<Partial<Record<(typeof PARAMETERS)[number], string>>>;

const MAX_QUERY = 4_000;

/** A valid authorization request. */
export interface AuthorizeRequest {
  client: Client;
  redirectUri: string;
  /** Requested actions in canonical order; `read` if none is known. */
  scope: Action[];
  state: string | undefined;
  challenge: string;
  parameters: AuthorizeParameters;
}

export type AuthorizeRequestResult =
  | { kind: 'asked'; request: AuthorizeRequest }
  /** Unknown client or redirect URI: shown to the person only, never redirected. */
  | { kind: 'unknown'; why: string }
  /** Invalid request of a known client: the person may return with the error. RFC 6749 4.1.2.1. */
  | { kind: 'mistake'; error: string; why: string; client: Client; redirectUri: string; state: string | undefined };

/** Reads the parameters; undefined if one is repeated or the query is too long. RFC 6749 3.1. */
export function readAuthorizeParameters(given: Readonly<Record<string, unknown>>): AuthorizeParameters | undefined {
  const known = PARAMETERS.filter((name) => given[name] !== undefined).map((name) => [name, given[name]] as const);
  if (!known.every(([, value]) => typeof value === 'string' && /^[\x20-\x7e]*$/.test(value))) return undefined;
  // Before they are encoded, which takes three times their length.
  if (known.reduce((sum, [, value]) => sum + String(value).length, 0) > MAX_QUERY) return undefined;
  const parameters = Object.fromEntries(known.filter(([, value]) => value !== '')) as AuthorizeParameters;
  return queryOf(parameters).length > MAX_QUERY ? undefined : parameters;
}

/** The request as a fully percent-encoded query, which can be nested in another one. */
export function queryOf(parameters: AuthorizeParameters): string {
  return new URLSearchParams(parameters as Record<string, string>).toString();
}

/** Validates a request. Checks client and redirect URI before anything else. RFC 9700 4.11. */
export function readAuthorizeRequest(
  parameters: AuthorizeParameters,
  found: ClientLookup,
  baseUrl: string,
): AuthorizeRequestResult {
  if ('problem' in found) return { kind: 'unknown', why: `Unknown client: ${found.problem}.` };
  const { client } = found;
  const redirectUri = parameters.redirect_uri ?? '';
  if (redirectProblem(redirectUri) !== undefined || !isRegistered(client.redirectUris, redirectUri)) {
    return { kind: 'unknown', why: 'Its redirect URI is not registered.' };
  }
  const { state, code_challenge: challenge = '' } = parameters;
  const wrong = mistakeIn(parameters, baseUrl);
  if (wrong !== undefined) return { kind: 'mistake', ...wrong, client, redirectUri, state };
  const scope = scopeOf(parameters.scope);
  return { kind: 'asked', request: { client, redirectUri, scope, state, challenge, parameters } };
}

function mistakeIn(parameters: AuthorizeParameters, baseUrl: string): { error: string; why: string } | undefined {
  if (parameters.response_type !== 'code') {
    return { error: 'unsupported_response_type', why: 'response_type must be code' };
  }
  if (parameters.code_challenge_method !== 'S256' || !isChallenge(parameters.code_challenge ?? '')) {
    return { error: 'invalid_request', why: 'a code_challenge with method S256 is required' };
  }
  if (parameters.resource !== undefined && !isOwnResource(baseUrl, parameters.resource)) {
    return { error: 'invalid_target', why: 'the resource is not this mail server' };
  }
  return undefined;
}

/** Scopes are actions. Ignores unknown ones: clients may send scopes of other servers. */
function scopeOf(text = ''): Action[] {
  const named = text.split(' ');
  const known = ACTIONS.filter((one) => named.includes(one));
  return known.length === 0 ? ['read'] : known;
}
