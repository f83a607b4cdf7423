import { createHash, randomBytes } from 'node:crypto';
import { http, type Said } from './mcp.ts';
import type { Visitor } from './visitor.ts';

export const CALLBACK = 'http://127.0.0.1:7777/callback';

/** A code_verifier and its challenge. RFC 7636 4. */
export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Registers a client; answers its id. */
export async function registered(base: string, more: object = {}): Promise<string> {
  const metadata = { client_name: 'Test client', redirect_uris: [CALLBACK], ...more };
  const json = { 'content-type': 'application/json' };
  const said = await http('POST', `${base}/oauth/register`, json, JSON.stringify(metadata));
  if (said.status !== 201) throw new Error(`not registered: ${said.status} ${said.text}`);
  return String(said.json?.['client_id']);
}

/** Sends a form to one of the endpoints for programs. */
export function posted(base: string, endpoint: 'token' | 'revoke', fields: Record<string, string>): Promise<Said> {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  return http('POST', `${base}/oauth/${endpoint}`, form, new URLSearchParams(fields).toString());
}

export type Wish = Record<string, string>;

/** Parameters of the authorization request; `more` replaces some, '' omits one. */
export function wish(client: string, challenge: string, more: Wish = {}): Wish {
  const all: Wish = {
    response_type: 'code',
    client_id: client,
    redirect_uri: CALLBACK,
    scope: 'read',
    state: 'st-1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

export function authorizePath(queried: Wish): string {
  return `/oauth/authorize?${new URLSearchParams(queried).toString()}`;
}

/** The hidden fields of a page's consent form. */
export function hiddenFields(page: string): Record<string, string> {
  const form = /<form class="sheet"[\s\S]*?<\/form>/.exec(page)?.[0] ?? '';
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, plain(value)]));
}

/** Text out of an attribute, as a browser reads it. */
export function plain(markup: string): string {
  const of = { quot: '"', lt: '<', gt: '>', '#39': "'", '#96': '`', amp: '&' } as Record<string, string>;
  return markup.replace(/&(#?\w+);/g, (whole, name: string) => of[name] ?? whole);
}

export type Choice = Readonly<Record<string, string | string[]>>;

/** A person opens what a client asks and decides; answers where the browser is sent. */
export async function decided(visitor: Visitor, queried: Wish, choice: Choice = {}): Promise<Said> {
  const path = choice['organization'] === undefined ? '' : `&organization=${String(choice['organization'])}`;
  const page = await visitor.get(`${authorizePath(queried)}${path}`);
  const fields = { actions: (queried['scope'] ?? 'read').split(' '), reach: 'organization', do: 'allow' };
  return visitor.post('/oauth/authorize', { ...hiddenFields(page.text), ...fields, ...choice });
}

/** The parameters with which the browser comes back to the client. */
export function cameBack(said: Said): Record<string, string> {
  const location = String(said.headers['location'] ?? '');
  if (said.status !== 303 || !location.includes('?')) throw new Error(`no redirect: ${said.status} ${said.text}`);
  return Object.fromEntries(new URL(location).searchParams);
}

export interface Tokens {
  access: string;
  refresh: string;
  scope: string;
}

export function tokensOf(said: Said): Tokens {
  if (said.status !== 200) throw new Error(`no tokens: ${said.status} ${said.text}`);
  const { access_token: access, refresh_token: refresh, scope } = said.json as Record<string, string>;
  return { access: String(access), refresh: String(refresh), scope: String(scope) };
}

/** Exchanges a code. */
export function exchanged(
  base: string,
  client: string,
  code: string,
  verifier: string,
  more: Wish = {},
): Promise<Said> {
  const fields = { grant_type: 'authorization_code', client_id: client, code, code_verifier: verifier };
  return posted(base, 'token', { ...fields, redirect_uri: CALLBACK, ...more });
}

export function refreshed(base: string, client: string, refresh: string): Promise<Said> {
  return posted(base, 'token', { grant_type: 'refresh_token', client_id: client, refresh_token: refresh });
}

/** From nothing to tokens, with a person who allows what is asked. */
export async function connected(
  base: string,
  visitor: Visitor,
  more: Wish = {},
  choice: Choice = {},
): Promise<Tokens & { client: string }> {
  const client = await registered(base);
  const { verifier, challenge } = pkce();
  const { code = '' } = cameBack(await decided(visitor, wish(client, challenge, more), choice));
  return { ...tokensOf(await exchanged(base, client, code, verifier)), client };
}
