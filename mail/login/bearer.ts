import type { SaslBackend, SaslTurn } from './sasl-backend.ts';
import type { Login, LoginOutcome, Peer } from './types.ts';

/** The meaning of a token that a client presented. */
export type BearerOutcome =
  /** It stands for a password, which is checked like one. */
  | { kind: 'password'; user: string; password: string }
  /** It gives access to the mailbox, within its actions. */
  | { kind: 'token'; login: Login }
  /** It is valid, but not here. */
  | { kind: 'barred'; why: string }
  | { kind: 'wrong' };

/** Finds what tokens stand for. */
export interface BearerSource {
  /** `user`: the address of the mailbox; undefined: the client named none. */
  find(request: { token: string; user: string | undefined; peer: Peer }): Promise<BearerOutcome>;
  /** Reports whether a login by token is still valid. */
  isValid(login: Login): Promise<boolean>;
}

const BEARER = /^auth=Bearer +([A-Za-z0-9._~+/=-]{1,8000})$/i;

/** OAUTHBEARER. RFC 7628. */
export function oauthBearer(backend: SaslBackend): SaslTurn {
  return exchangeOf(backend, parseOauthBearer);
}

/** XOAUTH2, which has no RFC: the form of Google and Microsoft. */
export function xoauth2(backend: SaslBackend): SaslTurn {
  return exchangeOf(backend, parseXoauth2);
}

export interface PresentedToken {
  user: string | undefined;
  token: string;
}

/** Parses `n,a=user,^Ahost=...^Aauth=Bearer token^A^A`; undefined: malformed. RFC 7628 3.1. */
export function parseOauthBearer(text: string): PresentedToken | undefined {
  const [header = '', ...fields] = text.split('\x01');
  const gs2 = /^n,(?:a=([^,]{1,1000}))?,$/.exec(header);
  if (gs2 === null) return undefined;
  return presented(fields, gs2[1]?.replace(/=2C/gi, ',').replace(/=3D/gi, '='));
}

/** Parses `user=user^Aauth=Bearer token^A^A`; undefined: malformed. */
export function parseXoauth2(text: string): PresentedToken | undefined {
  const [first = '', ...fields] = text.split('\x01');
  const user = /^user=(.{1,1000})$/i.exec(first)?.[1];
  return user === undefined ? undefined : presented(fields, user);
}

/** The token in the fields, which end with two separators. */
function presented(fields: readonly string[], user: string | undefined): PresentedToken | undefined {
  if (fields.length < 3 || fields.at(-1) !== '' || fields.at(-2) !== '') return undefined;
  const token = BEARER.exec(fields.find((field) => /^auth=/i.test(field)) ?? '')?.[1];
  return token === undefined ? undefined : { user, token };
}

function exchangeOf(backend: SaslBackend, parse: (text: string) => PresentedToken | undefined): SaslTurn {
  return async function credentials(response) {
    if (!response) return [{ kind: 'challenge', data: Buffer.alloc(0) }, credentials];
    const read = parse(response.toString('utf8'));
    if (read === undefined) return [{ kind: 'malformed', why: 'the response is not of the form of the mechanism' }];
    const outcome = await backend.bearer(read.user, read.token);
    if (outcome.kind !== 'wrong' && outcome.kind !== 'barred') return [outcome];
    // RFC 7628 3.2.3: the error comes as a challenge, and the client answers it before the exchange fails.
    return [{ kind: 'challenge', data: errorOf(outcome) }, () => Promise.resolve([outcome])];
  };
}

/** RFC 7628 3.2.2. `schemes` is of XOAUTH2. */
function errorOf({ kind }: LoginOutcome): Buffer {
  const status = kind === 'barred' ? 'insufficient_scope' : 'invalid_token';
  return Buffer.from(JSON.stringify({ status, schemes: 'bearer', scope: 'mail' }));
}
