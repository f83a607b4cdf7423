import { type Action, ACTIONS } from '../tokens/token.ts';
import type { Client } from './client-commands.ts';
import type { FoundClient } from './client-document.ts';
import { isOwnResource } from './metadata.ts';
import { isRegistered, redirectProblem } from './redirect-uri.ts';
import { isChallenge } from './secret.ts';

/** Parameters of the authorization endpoint that mean something here. */
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
export type Parameters = Readonly<Partial<Record<(typeof PARAMETERS)[number], string>>>;

const LONGEST = 4_000;

/** What a client asks a person for. */
export interface AuthorizeRequest {
  client: Client;
  redirectUri: string;
  /** What it asked for, in the order of all actions; nothing that is known means `read`. */
  scope: Action[];
  state: string | undefined;
  challenge: string;
  parameters: Parameters;
}

export type ReadRequest =
  | { kind: 'asked'; request: AuthorizeRequest }
  /** Nobody is there to answer to: only the person is told. */
  | { kind: 'unknown'; why: string }
  /** The client made a mistake, and may be told if the person wants to go back. RFC 6749 4.1.2.1. */
  | { kind: 'mistake'; error: string; why: string; client: Client; redirectUri: string; state: string | undefined };

/** The parameters, each once; undefined when one is there twice, or all are too long. RFC 6749 3.1. */
export function readParameters(given: Readonly<Record<string, unknown>>): Parameters | undefined {
  const known = PARAMETERS.filter((name) => given[name] !== undefined).map((name) => [name, given[name]] as const);
  if (!known.every(([, value]) => typeof value === 'string' && /^[\x20-\x7e]*$/.test(value))) return undefined;
  const parameters = Object.fromEntries(known.filter(([, value]) => value !== '')) as Parameters;
  return queryOf(parameters).length > LONGEST ? undefined : parameters;
}

/** The same request as a query: percent-encoded throughout, so that it can be carried in another one. */
export function queryOf(parameters: Parameters): string {
  return new URLSearchParams(parameters as Record<string, string>).toString();
}

/** Judges a request. Who asks, and where the answer goes, is sure before anything else is looked at. RFC 9700 4.11. */
export function readRequest(parameters: Parameters, found: FoundClient, baseUrl: string): ReadRequest {
  if ('problem' in found) return { kind: 'unknown', why: `It is not known who asks: ${found.problem}.` };
  const { client } = found;
  const redirectUri = parameters.redirect_uri ?? '';
  if (redirectProblem(redirectUri) !== undefined || !isRegistered(client.redirectUris, redirectUri)) {
    return { kind: 'unknown', why: 'It wants the answer at another place than it said before.' };
  }
  const { state, code_challenge: challenge = '' } = parameters;
  const wrong = mistakeIn(parameters, baseUrl);
  if (wrong !== undefined) return { kind: 'mistake', ...wrong, client, redirectUri, state };
  const scope = scopeOf(parameters.scope);
  return { kind: 'asked', request: { client, redirectUri, scope, state, challenge, parameters } };
}

function mistakeIn(parameters: Parameters, baseUrl: string): { error: string; why: string } | undefined {
  if (parameters.response_type !== 'code') {
    return { error: 'unsupported_response_type', why: 'response_type must be code' };
  }
  if (parameters.code_challenge_method !== 'S256' || !isChallenge(parameters.code_challenge ?? '')) {
    return { error: 'invalid_request', why: 'a code_challenge of the method S256 is needed' };
  }
  if (parameters.resource !== undefined && !isOwnResource(baseUrl, parameters.resource)) {
    return { error: 'invalid_target', why: 'the resource is not this mail server' };
  }
  return undefined;
}

/** Scopes are actions. Those that are not known are left out, as clients also name what other servers have. */
function scopeOf(text = ''): Action[] {
  const named = text.split(' ');
  const known = ACTIONS.filter((one) => named.includes(one));
  return known.length === 0 ? ['read'] : known;
}
