import { generateKeyPairSync, sign } from 'node:crypto';
import type * as oauth from 'oauth4webapi';
import { type FetchLimits, guardedFetch } from '../../../src/single-sign-on/guarded-fetch.ts';
import { namedBrowserOf } from '../../../src/people/user-agent.ts';
import { acceptedLanguage } from '../../../src/http/language.ts';
import { readEd25519Key } from '../../../src/recovery/ed25519.ts';
import { fakeResolver } from '../fake-resolver.ts';
import { caught, type CostRow, costs, driven } from './row.ts';

const ISSUER = 'https://login.example';
const SERVER = { issuer: ISSUER, token_endpoint: `${ISSUER}/token`, jwks_uri: `${ISSUER}/jwks` };
const CLIENT = { client_id: 'mailstead' };
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEY = { ...publicKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' };
const LIMITS: FetchLimits = {
  resolver: fakeResolver({}),
  allowed: { all: false, networks: [], endpoints: [] },
};

const library = (): Promise<typeof oauth> => import('oauth4webapi');
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An ID token of the provider with some claims, and a header with this key id. */
function idToken(claims: object, kid = 'a'): string {
  const now = Math.floor(Date.now() / 1000);
  const plain = { iss: ISSUER, aud: CLIENT.client_id, sub: 'a', iat: now, exp: now + 300, nonce: 'a' };
  const text = `${encoded({ alg: 'ES256', kid })}.${encoded({ ...plain, ...claims })}`;
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

/** Reads the answer of the token endpoint, as a sign-in does, with these published keys. */
async function signedIn(token: string, keys: readonly object[] = [{ ...KEY, kid: 'a' }]): Promise<unknown> {
  const { processAuthorizationCodeResponse, validateApplicationLevelSignature, customFetch } = await library();
  const response = Response.json({ access_token: 'a', token_type: 'Bearer', id_token: token });
  const options = { [customFetch]: () => Promise.resolve(Response.json({ keys })) };
  try {
    await processAuthorizationCodeResponse(SERVER, CLIENT, response, { expectedNonce: 'a', requireIdToken: true });
    await validateApplicationLevelSignature(SERVER, response, options);
    return undefined;
  } catch (error) {
    return error;
  }
}

async function discovered(members: object): Promise<unknown> {
  const { processDiscoveryResponse } = await library();
  const response = Response.json({ ...SERVER, ...members });
  return processDiscoveryResponse(new URL(ISSUER), response).catch((error: unknown) => error);
}

/** Functions that read the answers of an OpenID provider, and what browsers say of themselves. */
export const SINGLE_SIGN_ON_COSTS: readonly CostRow[] = [
  ...costs(
    {
      at: 'src/single-sign-on',
      input: 'answer of an OpenID provider',
      bound: '256 KiB, 10 s',
      thread: 'main',
      most: 256 * 1024,
    },
    {
      guardedFetch: driven((text) => guardedFetch(text, {}, LIMITS).catch((error: unknown) => error), {
        input: 'URL in the discovery document',
        bound: '2,000 characters',
        worst: ['https://a.example/', 'https://', '@', '%41', '.'],
      }),
      'OpenIdProvider: discovery document': driven(
        (text) => discovered({ authorization_endpoint: text, id_token_signing_alg_values_supported: text.split(' ') }),
        { worst: ['RS256 ', 'https://a/', '"'] },
      ),
      'OpenIdProvider: keys': driven(
        (text) =>
          signedIn(
            idToken({}, 'last'),
            text.split(' ').map((kid) => ({ ...KEY, kid })),
          ),
        // Each key has 150 octets besides its name.
        { worst: ['a ', 'last '], most: 4096 },
      ),
      'OpenIdProvider: ID token': driven(signedIn, { worst: ['a.', '.', 'eyJ', 'A'] }),
      'OpenIdProvider: claims': driven((text) => signedIn(idToken({ email: text, aud: ['mailstead', text] })), {
        worst: ['a@b.example,', '"', '\\'],
      }),
    },
  ),
  ...costs(
    { at: 'src/people/user-agent.ts', input: 'User-Agent', bound: 'header of 16 KiB', thread: 'main' },
    { namedBrowserOf: driven(namedBrowserOf, { worst: ['Chrome/', 'Safari/', 'Version/1 ', '('] }) },
  ),
  ...costs(
    { at: 'src/http/language.ts', input: 'Accept-Language', bound: '1,000 characters', thread: 'main' },
    { acceptedLanguage: driven(acceptedLanguage, { worst: ['en;q=0.1,', ',', ';', '-'] }) },
  ),
  ...costs(
    { at: 'src/recovery', input: 'recovery key', bound: '1,000 characters', thread: 'main' },
    {
      readEd25519Key: driven((text) => caught(() => readEd25519Key(text)), {
        worst: ['-----BEGIN PUBLIC KEY-----', '-'],
      }),
    },
  ),
];
