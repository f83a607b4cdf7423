import type { Resolver } from '../dns/lookup.ts';
import type { Field } from '../message/header.ts';
import { ARC_FIELDS, type ArcSet, type Chain, readChain } from './arc-chain.ts';
import type { Authentication, Sealer } from './authentication.ts';
import type { BodyHashes } from './body-hashes.ts';
import { flaw, type Flaw } from './dkim-public-key.ts';
import { canonicalField } from './dkim-sign.ts';
import { readSigner, withoutSignature } from './dkim-signature.ts';
import { bodyFlaw, type Checked, checkSignature, signerFlaw } from './dkim-verify.ts';
import { readResults } from './results-reader.ts';
import type { SignedHeader } from './signed-header.ts';
import { readTags } from './tag-list.ts';

/** A chain whose header has been checked; its body may not have been read yet. */
export interface CheckedChain {
  chain: Chain;
  /** Of the last ARC-Message-Signature, and of each seal. */
  message: Checked | undefined;
  seals: readonly (Flaw | undefined)[];
}

/**
 * Verifies the ARC chain of a message as far as its header goes: all seals, and the message signature of the last set,
 * which alone can still be good after what later hands have done. RFC 8617 5.2.
 */
export async function checkChain(
  header: SignedHeader,
  bodies: BodyHashes,
  { resolver, now }: { resolver: Resolver; now: number },
): Promise<CheckedChain> {
  const chain = readChain(header.fields);
  const last = chain.kind === 'sets' ? chain.sets.at(-1) : undefined;
  if (chain.kind !== 'sets' || last === undefined) return { chain, message: undefined, seals: [] };
  const message = checkSignature(header, last['arc-message-signature'], bodies, { resolver, now, arc: true });
  const seals = chain.sets.map((_, at) => sealFlaw(chain.sets.slice(0, at + 1), resolver));
  return { chain, message: await message, seals: await Promise.all(seals) };
}

/** What became of the chain, once the body has been read, and who sealed it last. */
export function chainFound(
  { chain, message, seals }: CheckedChain,
  bodies: BodyHashes,
): { arc: Authentication['arc']; sealer?: Sealer } {
  if (chain.kind === 'none') return { arc: 'none' };
  if (chain.kind === 'broken' || message === undefined) return { arc: 'fail' };
  const flaws = [message.kind === 'flaw' ? message : bodyFlaw(message.signature, bodies), ...seals].filter(
    (one) => one !== undefined,
  );
  // What is known to be wrong stays wrong, whatever else could not be looked up.
  if (flaws.some(({ result }) => result !== 'temperror')) return { arc: 'fail' };
  if (flaws.length > 0) return { arc: 'temperror' };
  const last = chain.sets.at(-1);
  return { arc: 'pass', ...(last !== undefined && { sealer: sealerOf(last) }) };
}

/** What is wrong with the seal of the last of these sets, which covers all of them. RFC 8617 5.1.1. */
async function sealFlaw(sets: readonly ArcSet[], resolver: Resolver): Promise<Flaw | undefined> {
  const field = sets.at(-1)?.['arc-seal'];
  const tags = field && readTags(field.value);
  if (field === undefined || tags === undefined) return flaw('neutral', 'the seal cannot be read');
  // RFC 8617 4.1.3: it covers the chain and nothing else.
  if (tags.has('h') || tags.has('bh')) return flaw('permerror', 'the seal has tags of a signature');
  const status = tags.get('cv')?.value.toLowerCase();
  if (status !== (sets.length === 1 ? 'none' : 'pass')) return flaw('fail', 'the chain was broken before');
  const signer = readSigner(tags);
  if ('kind' in signer) return signer;
  return signerFlaw(signer, () => sealedData(sets, withoutSignature(field.value, tags)), resolver);
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
  return { domain, ...verdicts(set['arc-authentication-results']) };
}

function verdicts({ value }: Field): Omit<Sealer, 'domain'> {
  // What stands before the first semicolon is the number of the set.
  const results = readResults(value.slice(value.indexOf(';') + 1))?.results ?? [];
  const best = (method: string): string => {
    const found = results.filter((one) => one.method === method).map(({ result }) => result);
    return found.includes('pass') ? 'pass' : (found[0] ?? '');
  };
  return { dmarc: best('dmarc'), spf: best('spf'), dkim: best('dkim') };
}
