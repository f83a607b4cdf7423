import { timingSafeEqual } from 'node:crypto';

import type { Credential } from './needs.ts';
import { hmac, sha256 } from './verifier.ts';

/** The client's first message, taken apart. RFC 5802 7. */
export interface ClientFirst {
  kind: 'client-first';
  /** With its closing comma, exactly as sent: the client repeats it in its final message. */
  gs2Header: string;
  /** Who it wants to act for, when it says so. */
  authzid: string | undefined;
  user: string;
  nonce: string;
  /** Everything after the gs2-header. */
  bare: string;
}

/** The client's second message, taken apart. */
export interface ClientFinal {
  kind: 'client-final';
  channelBinding: Buffer;
  nonce: string;
  /** 32 octets. */
  proof: Buffer;
  withoutProof: string;
}

export interface Malformed {
  kind: 'malformed';
  why: string;
}

const malformed = (why: string): Malformed => ({ kind: 'malformed', why });

// "y" says that the client could bind and thinks that we cannot, which is true. RFC 5802 6.
const GS2 = /^(?:[ny]),(?:a=([^,]+))?,/;
const EXTENSION = /^[A-Za-z]=[^,]+$/;
const NONCE = /^[\x21-\x2b\x2d-\x7e]{1,1024}$/;

/** Parses the client's first message. RFC 5802 7 `client-first-message`. */
export function parseClientFirst(text: string): ClientFirst | Malformed {
  if (text.startsWith('p=')) return malformed('channel binding is not offered here');
  const gs2 = GS2.exec(text);
  if (!gs2) return malformed('the message does not begin with a gs2-header');
  const bare = text.slice(gs2[0].length);
  const [name = '', nonce = '', ...extensions] = bare.split(',');
  if (name.startsWith('m=')) return malformed('a mandatory extension is not known here');
  const user = name.startsWith('n=') ? unescapeName(name.slice(2)) : undefined;
  if (user === undefined) return malformed('the user name is missing or not well formed');
  if (!nonce.startsWith('r=') || !NONCE.test(nonce.slice(2)))
    return malformed('the nonce is missing or not well formed');
  if (!extensions.every((one) => EXTENSION.test(one))) return malformed('an extension is not well formed');
  const authzid = gs2[1] === undefined ? undefined : unescapeName(gs2[1]);
  if (gs2[1] !== undefined && authzid === undefined) return malformed('the authorization name is not well formed');
  return { kind: 'client-first', gs2Header: gs2[0], authzid, user, nonce: nonce.slice(2), bare };
}

/** Parses the client's second message. RFC 5802 7 `client-final-message`. */
export function parseClientFinal(text: string): ClientFinal | Malformed {
  const end = text.lastIndexOf(',p=');
  if (end < 0) return malformed('the proof is missing');
  const withoutProof = text.slice(0, end);
  const proof = decode(text.slice(end + 3));
  if (proof?.length !== 32) return malformed('the proof is not 32 octets of base64');
  const [binding = '', nonce = '', ...extensions] = withoutProof.split(',');
  const channelBinding = binding.startsWith('c=') ? decode(binding.slice(2)) : undefined;
  if (!channelBinding) return malformed('the channel binding is missing or not base64');
  if (!nonce.startsWith('r=')) return malformed('the nonce is missing');
  if (!extensions.every((one) => EXTENSION.test(one))) return malformed('an extension is not well formed');
  return { kind: 'client-final', channelBinding, nonce: nonce.slice(2), proof, withoutProof };
}

/** The server's first message. RFC 5802 7 `server-first-message`. */
export function serverFirst(nonce: string, salt: Buffer, iterations: number): string {
  return `r=${nonce},s=${salt.toString('base64')},i=${iterations}`;
}

/** The stored key that the proof proves, tried against each credential's. RFC 5802 3. */
export function provenKey(
  credentials: readonly Pick<Credential, 'storedKey'>[],
  authMessage: string,
  proof: Buffer,
): Buffer | undefined {
  const proven = credentials.find(({ storedKey }) => {
    const signature = hmac(storedKey, authMessage);
    const clientKey = Buffer.from(proof.map((octet, i) => octet ^ (signature[i] ?? 0)));
    return timingSafeEqual(sha256(clientKey), storedKey);
  });
  return proven?.storedKey;
}

/** The server's last message, by which the client knows that the server has the verifier. RFC 5802 7. */
export function serverFinal(credential: Pick<Credential, 'serverKey'>, authMessage: string): string {
  return `v=${hmac(credential.serverKey, authMessage).toString('base64')}`;
}

// RFC 5802 5.1: "," is =2C and "=" is =3D; any other "=" ends the exchange.
function unescapeName(text: string): string | undefined {
  if (text === '' || text.includes('\0') || /=(?!2C|3D)/.test(text)) return undefined;
  return text.replace(/=2C/g, ',').replace(/=3D/g, '=');
}

// One spelling an octet string only: Node would also read URL-safe, unpadded and otherwise loose base64.
function decode(text: string): Buffer | undefined {
  const octets = Buffer.from(text, 'base64');
  return octets.toString('base64') === text ? octets : undefined;
}
