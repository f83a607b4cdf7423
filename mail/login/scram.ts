import { timingSafeEqual } from 'node:crypto';

import type { Credential } from './credentials.ts';
import { hmac, sha256 } from './verifier.ts';

/** Parsed client-first-message. RFC 5802 7. */
export interface ClientFirst {
  kind: 'client-first';
  /** With its closing comma, exactly as sent: the client repeats it in its final message. */
  gs2Header: string;
  /** The client's use of channel binding. RFC 5802 6. */
  binding: { kind: 'none' } | { kind: 'thought-unsupported' } | { kind: 'used'; type: string };
  /** Requested authorization identity. */
  authzid: string | undefined;
  user: string;
  nonce: string;
  /** Everything after the gs2-header. */
  bare: string;
}

/** Parsed client-final-message. RFC 5802 7. */
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

// "y": the client supports channel binding and believes that the server does not. RFC 5802 6.
const GS2 = /^(?:[ny]|p=([A-Za-z0-9.-]{1,50})),(?:a=([^,]+))?,/;
const EXTENSION = /^[A-Za-z]=[^,]+$/;
const NONCE = /^[\x21-\x2b\x2d-\x7e]{1,1024}$/;

/** Parses a client-first-message. RFC 5802 7. */
export function parseClientFirst(text: string): ClientFirst | Malformed {
  const gs2 = GS2.exec(text);
  if (!gs2) return malformed('the message does not begin with a gs2-header');
  const bare = text.slice(gs2[0].length);
  const [name = '', nonce = '', ...extensions] = bare.split(',');
  if (name.startsWith('m=')) return malformed('unsupported mandatory extension');
  const user = name.startsWith('n=') ? unescapeName(name.slice(2)) : undefined;
  if (user === undefined) return malformed('the user name is missing or not well formed');
  if (!nonce.startsWith('r=') || !NONCE.test(nonce.slice(2)))
    return malformed('the nonce is missing or not well formed');
  if (!extensions.every((one) => EXTENSION.test(one))) return malformed('an extension is not well formed');
  const [, type, authorized] = gs2;
  const authzid = authorized === undefined ? undefined : unescapeName(authorized);
  if (authorized !== undefined && authzid === undefined) return malformed('the authorization name is not well formed');
  const binding = bindingOf(text, type);
  return { kind: 'client-first', gs2Header: gs2[0], binding, authzid, user, nonce: nonce.slice(2), bare };
}

function bindingOf(text: string, type: string | undefined): ClientFirst['binding'] {
  if (type !== undefined) return { kind: 'used', type };
  return text.startsWith('y') ? { kind: 'thought-unsupported' } : { kind: 'none' };
}

/** Parses a client-final-message. RFC 5802 7. */
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

/** Formats the server-first-message. RFC 5802 7. */
export function serverFirst(nonce: string, salt: Buffer, iterations: number): string {
  return `r=${nonce},s=${salt.toString('base64')},i=${iterations}`;
}

/** The stored key, of one of the credentials, that the proof matches. RFC 5802 3. */
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

/** Formats the server-final-message, which proves that the server has the verifier. RFC 5802 7. */
export function serverFinal(credential: Pick<Credential, 'serverKey'>, authMessage: string): string {
  return `v=${hmac(credential.serverKey, authMessage).toString('base64')}`;
}

// RFC 5802 5.1: "," is =2C and "=" is =3D; any other "=" ends the exchange.
function unescapeName(text: string): string | undefined {
  if (text === '' || text.includes('\0') || /=(?!2C|3D)/.test(text)) return undefined;
  return text.replace(/=2C/g, ',').replace(/=3D/g, '=');
}

// Canonical base64 only: Node also decodes URL-safe, unpadded and otherwise malformed base64.
function decode(text: string): Buffer | undefined {
  const octets = Buffer.from(text, 'base64');
  return octets.toString('base64') === text ? octets : undefined;
}
