import { hash, verify } from 'node:crypto';
import type { Resolver } from '../dns/lookup.ts';
import type { Field } from '../message/header.ts';
import type { Authentication } from './authentication.ts';
import type { BodyHashes } from './body-hashes.ts';
import { flaw, type Flaw, type PublicKey, readPublicKey } from './dkim-public-key.ts';
import { claimedSigner, readSignature, type Signature, type Signer } from './dkim-signature.ts';
import type { SignedHeader } from './signed-header.ts';

export type DkimFound = Authentication['dkim'][number];

/** Records at one name that are tried: a second one is there while a key is changed by mistake. */
const MOST_KEYS = 2;

/** A signature whose header has been checked; its body may not have been read yet. */
export type Checked = { kind: 'good'; signature: Signature } | Flaw;

/**
 * Verifies one DKIM-Signature as far as its header goes, and wants the hash of the body that it covers. Whoever has read
 * the body asks {@link bodyFlaw}. RFC 6376 6.1.
 */
export async function checkSignature(
  header: SignedHeader,
  field: Field,
  bodies: BodyHashes,
  { resolver, now, arc = false }: { resolver: Resolver; now: number; arc?: boolean },
): Promise<Checked> {
  const signature = readSignature(field.value, now, arc);
  if (signature.kind === 'flaw') return signature;
  // Before anything is awaited: the body is read meanwhile.
  bodies.want(signature.relaxed.body);
  const data = (): Buffer => header.data(signature.names, field, signature.unsigned, signature.relaxed.header);
  const wrong = await signerFlaw(signature, data, resolver, ({ strict }) =>
    strict && signature.identity !== signature.domain ? flaw('permerror', 'the key is for d= alone') : undefined,
  );
  return wrong ?? { kind: 'good', signature };
}

/** What is wrong with the body that a good signature came with. */
export function bodyFlaw({ relaxed, length, bodyHash }: Signature, bodies: BodyHashes): Flaw | undefined {
  const body = bodies.get(relaxed.body);
  const covered = length ?? body.length;
  // RFC 6376 8.2: whoever likes may have written what stands behind. So what stands before is not hashed either: each
  // signature could ask for another length of it.
  if (covered < body.length) return flaw('policy', 'the signature leaves the end of the body open');
  const whole = covered === body.length && body.hash.equals(bodyHash);
  return whole ? undefined : flaw('fail', 'the body is not the one that was signed');
}

/** The domain of a signature that may be found good; undefined where it cannot. */
export function openSigner(field: Field, checked: Checked): string | undefined {
  if (checked.kind === 'good') return checked.signature.domain;
  return checked.result === 'temperror' ? claimedSigner(field.value).domain : undefined;
}

/** What is reported of a signature. */
export function dkimFound(field: Field, checked: Checked, bodies: BodyHashes): DkimFound {
  const wrong = checked.kind === 'flaw' ? checked : bodyFlaw(checked.signature, bodies);
  const { domain, selector } = checked.kind === 'flaw' ? claimedSigner(field.value) : checked.signature;
  return wrong === undefined
    ? { result: 'pass', domain, selector }
    : { result: wrong.result, domain, selector, why: wrong.why };
}

/** What is wrong with a signature over `data`, once its key is found. `more` is asked about a key that fits. */
export async function signerFlaw(
  signer: Signer,
  data: () => Buffer,
  resolver: Resolver,
  more: (key: PublicKey) => Flaw | undefined = () => undefined,
): Promise<Flaw | undefined> {
  const { algorithm, domain, selector, signature } = signer;
  const found = await resolver.txt(`${selector}._domainkey.${domain}`);
  if (found.kind === 'trouble') return flaw('temperror', 'the key could not be looked up');
  if (found.kind === 'none') return flaw('permerror', 'there is no key');
  const keys = found.records.slice(0, MOST_KEYS).map((record) => readPublicKey(record, algorithm));
  const key = keys.find((one) => one.kind === 'key') ?? keys[0] ?? flaw('permerror', 'there is no key');
  if (key.kind === 'flaw') return key;
  return isSigned(algorithm, data(), key, signature)
    ? more(key)
    : flaw('fail', 'the header is not the one that was signed');
}

/** RFC 8463 3: Ed25519 signs the SHA-256 of the octets, not the octets. */
function isSigned(algorithm: Signer['algorithm'], data: Buffer, { key }: PublicKey, signature: Buffer): boolean {
  return algorithm === 'rsa-sha256'
    ? verify('sha256', data, key, signature)
    : verify(null, hash('sha256', data, 'buffer'), key, signature);
}
