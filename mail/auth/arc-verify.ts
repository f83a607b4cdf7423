import type { Resolver } from '../dns/lookup.ts';
import type { Field } from '../message/header.ts';
import { ARC_FIELDS, type ArcSet, type ArcChain, readArcChain } from './arc-chain.ts';
import type { Authentication, Sealer } from './authentication.ts';
import type { BodyHashes } from './body-hashes.ts';
import { signatureFailure, type SignatureFailure } from './dkim-public-key.ts';
import { canonicalField } from './dkim-sign.ts';
import { readSigner, withoutSignature } from './dkim-signature.ts';
import { verifyBodyHash, type SignatureCheck, checkSignature, verifySignature } from './dkim-verify.ts';
import { readAuthenticationResults } from './results-reader.ts';
import type { SignedHeader } from './signed-header.ts';
import { readTags } from './tag-list.ts';

/** A chain whose header signatures were checked; the body hash is compared later. */
export interface ArcCheck {
  chain: ArcChain;
  /** Result for the last ARC-Message-Signature, and the failure of each seal. */
  message: SignatureCheck | undefined;
  seals: readonly (SignatureFailure | undefined)[];
}

/**
 * Verifies the header part of an ARC chain: all seals, and the message signature of the last set. Older message
 * signatures may have been broken by later forwarders. RFC 8617 5.2.
 */
export async function checkArcChain(
  header: SignedHeader,
  bodies: BodyHashes,
  { resolver, now }: { resolver: Resolver; now: number },
): Promise<ArcCheck> {
  const chain = readArcChain(header.fields);
  const last = chain.kind === 'sets' ? chain.sets.at(-1) : undefined;
  if (chain.kind !== 'sets' || last === undefined) return { chain, message: undefined, seals: [] };
  const message = checkSignature(header, last['arc-message-signature'], bodies, { resolver, now, arc: true });
  const seals = chain.sets.map((_, at) => verifySeal(chain.sets.slice(0, at + 1), resolver));
  return { chain, message: await message, seals: await Promise.all(seals) };
}

/** Determines the chain status after the body was read, and the last sealer. */
export function evaluateArc(
  { chain, message, seals }: ArcCheck,
  bodies: BodyHashes,
): { arc: Authentication['arc']; sealer?: Sealer } {
  if (chain.kind === 'none') return { arc: 'none' };
  if (chain.kind === 'broken' || message === undefined) return { arc: 'fail' };
  const flaws = [message.kind === 'failure' ? message : verifyBodyHash(message.signature, bodies), ...seals].filter(
    (one) => one !== undefined,
  );
  // A definite failure outweighs a failed lookup.
  if (flaws.some(({ result }) => result !== 'temperror')) return { arc: 'fail' };
  if (flaws.length > 0) return { arc: 'temperror' };
  const last = chain.sets.at(-1);
  return { arc: 'pass', ...(last !== undefined && { sealer: sealerOf(last) }) };
}

/** Verifies the seal of the last of these sets, which covers all of them. Undefined: valid. RFC 8617 5.1.1. */
async function verifySeal(sets: readonly ArcSet[], resolver: Resolver): Promise<SignatureFailure | undefined> {
  const field = sets.at(-1)?.['arc-seal'];
  const tags = field && readTags(field.value);
  if (field === undefined || tags === undefined) return signatureFailure('neutral', 'the ARC seal cannot be parsed');
  // RFC 8617 4.1.3: a seal covers the chain and nothing else.
  if (tags.has('h') || tags.has('bh')) return signatureFailure('permerror', 'the ARC seal has an h= or bh= tag');
  const status = tags.get('cv')?.value.toLowerCase();
  if (status !== (sets.length === 1 ? 'none' : 'pass'))
    return signatureFailure('fail', 'the ARC chain was already broken');
  const signer = readSigner(tags);
  if ('kind' in signer) return signer;
  return verifySignature(signer, () => sealedData(sets, withoutSignature(field.value, tags)), resolver);
}

function sealedData(sets: readonly ArcSet[], unsigned: string): Buffer {
  const lines = sets.flatMap((set) => ARC_FIELDS.map((name) => canonicalField(name, set[name].value)));
  lines[lines.length - 1] = canonicalField('arc-seal', unsigned);
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

function sealerOf(set: ArcSet): Sealer {
  const tags = readTags(set['arc-seal'].value);
  const signer = tags && readSigner(tags);
  const domain = signer === undefined || 'kind' in signer ? '' : signer.domain;
  return { domain, ...sealerResults(set['arc-authentication-results']) };
}

function sealerResults({ value }: Field): Omit<Sealer, 'domain'> {
  // The text before the first semicolon is the instance number.
  const results = readAuthenticationResults(value.slice(value.indexOf(';') + 1))?.results ?? [];
  const best = (method: string): string => {
    const found = results.filter((one) => one.method === method).map(({ result }) => result);
    return found.includes('pass') ? 'pass' : (found[0] ?? '');
  };
  return { dmarc: best('dmarc'), spf: best('spf'), dkim: best('dkim') };
}
