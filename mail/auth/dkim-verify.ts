import { hash, verify } from 'node:crypto';
import type { Resolver } from '../dns/lookup.ts';
import type { Field } from '../message/header.ts';
import type { Authentication } from './authentication.ts';
import type { BodyHashes } from './body-hashes.ts';
import { signatureFailure, type SignatureFailure, type PublicKey, readPublicKey } from './dkim-public-key.ts';
import { claimedSigner, readSignature, type Signature, type Signer } from './dkim-signature.ts';
import type { SignedHeader } from './signed-header.ts';

export type DkimSignatureResult = Authentication['dkim'][number];

/** Records tried at one name: two may exist during a mistaken key rotation. */
const MAX_KEY_RECORDS = 2;

/** A signature whose header was verified; the body hash is compared later. */
export type SignatureCheck = { kind: 'good'; signature: Signature } | SignatureFailure;

/**
 * Verifies the header part of one DKIM-Signature and requests the body hash that it covers. After reading the body, call
 * {@link verifyBodyHash}. RFC 6376 6.1.
 */
export async function checkSignature(
  header: SignedHeader,
  field: Field,
  bodies: BodyHashes,
  { resolver, now, arc = false }: { resolver: Resolver; now: number; arc?: boolean },
): Promise<SignatureCheck> {
  const signature = readSignature(field.value, now, arc);
  if (signature.kind === 'failure') return signature;
  // Must precede the first await: the body is read meanwhile.
  bodies.request(signature.relaxed.body);
  const data = (): Buffer => header.data(signature.names, field, signature.unsigned, signature.relaxed.header);
  const wrong = await verifySignature(signature, data, resolver, ({ strict }) =>
    strict && signature.identity !== signature.domain
      ? signatureFailure('permerror', 'the key does not allow subdomains in i= (t=s)')
      : undefined,
  );
  return wrong ?? { kind: 'good', signature };
}

/** Compares the body with `bh=`. Undefined: valid. */
export function verifyBodyHash(
  { relaxed, length, bodyHash }: Signature,
  bodies: BodyHashes,
): SignatureFailure | undefined {
  const body = bodies.get(relaxed.body);
  const covered = length ?? body.length;
  // RFC 6376 8.2: anyone may append behind l=. The prefix is not hashed either, as each signature could use another
  // length.
  if (covered < body.length) return signatureFailure('policy', 'l= does not cover the whole body');
  const whole = covered === body.length && body.hash.equals(bodyHash);
  return whole ? undefined : signatureFailure('fail', 'the body was changed after signing');
}

/** Returns the domain of a signature that may still pass; undefined if it has failed. */
export function possibleSigner(field: Field, checked: SignatureCheck): string | undefined {
  if (checked.kind === 'good') return checked.signature.domain;
  return checked.result === 'temperror' ? claimedSigner(field.value).domain : undefined;
}

/** Determines the result of a signature after the body was read. */
export function evaluateSignature(field: Field, checked: SignatureCheck, bodies: BodyHashes): DkimSignatureResult {
  const wrong = checked.kind === 'failure' ? checked : verifyBodyHash(checked.signature, bodies);
  const { domain, selector } = checked.kind === 'failure' ? claimedSigner(field.value) : checked.signature;
  return wrong === undefined
    ? { result: 'pass', domain, selector }
    : { result: wrong.result, domain, selector, why: wrong.why };
}

/** Looks up the key and verifies a signature over `data`. `more` checks the key further. Undefined: valid. */
export async function verifySignature(
  signer: Signer,
  data: () => Buffer,
  resolver: Resolver,
  more: (key: PublicKey) => SignatureFailure | undefined = () => undefined,
): Promise<SignatureFailure | undefined> {
  const { algorithm, domain, selector, signature } = signer;
  const found = await resolver.txt(`${selector}._domainkey.${domain}`);
  if (found.kind === 'trouble') return signatureFailure('temperror', 'the key lookup failed');
  if (found.kind === 'none') return signatureFailure('permerror', 'no key record was found');
  const keys = found.records.slice(0, MAX_KEY_RECORDS).map((record) => readPublicKey(record, algorithm));
  const key =
    keys.find((one) => one.kind === 'key') ?? keys[0] ?? signatureFailure('permerror', 'no key record was found');
  if (key.kind === 'failure') return key;
  return isSigned(algorithm, data(), key, signature)
    ? more(key)
    : signatureFailure('fail', 'the header was changed after signing');
}

/** RFC 8463 3: Ed25519 signs the SHA-256 of the octets, not the octets. */
function isSigned(algorithm: Signer['algorithm'], data: Buffer, { key }: PublicKey, signature: Buffer): boolean {
  return algorithm === 'rsa-sha256'
    ? verify('sha256', data, key, signature)
    : verify(null, hash('sha256', data, 'buffer'), key, signature);
}
