import { type Field, readFields } from '../message/header.ts';
import type { ChainStatus } from './authentication.ts';
import { canonicalField, type DkimKey, fold, foldSignature, selectFields, signData } from './dkim-sign.ts';

/** Instances in one ARC chain. RFC 8617 4.2.1. */
const MAX_ARC_SETS = 50;
const PARTS = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const;
type Part = (typeof PARTS)[number];
type StoredArcSet = Partial<Record<Part, Field>>;

export interface ArcSealingOptions {
  /** The first RSA key seals, as many verifiers do not support Ed25519 in ARC. Without a key no set is added. */
  keys: readonly DkimKey[];
  /** Chain status determined on arrival. */
  arc: ChainStatus;
  /** ms UTC. */
  now: number;
}

/**
 * Creates one ARC set to prepend to a message, with CRLF, over the outgoing header block and the body hash.
 * Copies the results of the first Authentication-Results field, which must be our own. RFC 8617 5.1.
 *
 * A broken chain is sealed with `cv=fail` over the new set alone (RFC 8617 5.1.2). Adds nothing if the last seal already
 * says `cv=fail`, the chain is full, or the sets are no chain.
 */
export async function sealArc(header: Uint8Array, bodyHash: Buffer, sealing: ArcSealingOptions): Promise<Buffer> {
  const fields = readFields(Buffer.from(header.buffer, header.byteOffset, header.byteLength).toString('latin1'));
  const { keys, arc, now } = sealing;
  const key = keys.find(({ algorithm }) => algorithm === 'rsa-sha256') ?? keys[0];
  const results = fields.find(({ name }) => name === 'authentication-results');
  const before = arcSetsOf(fields);
  const instance = Math.max(0, ...before.keys()) + 1;
  if (key === undefined || results === undefined || !mayAddSet(before, arc, instance)) return Buffer.alloc(0);
  const signer: Signer = { key, instance, seconds: Math.floor(now / 1000) };
  const own = ` i=${instance};${results.value.startsWith(' ') ? '' : ' '}${results.value}`;
  const message = await messageSignature(signer, fields, bodyHash);
  const sealed =
    arc === 'pass' ? [...before].toSorted(([a], [b]) => a - b).flatMap(([, set]) => canonicalSet(set)) : [];
  sealed.push(canonicalField(PARTS[0], own), canonicalField(PARTS[1], message));
  const seal = await sealOver(signer, sealed, arc);
  const lines = [`ARC-Seal:${seal}`, `ARC-Message-Signature:${message}`, `ARC-Authentication-Results:${own}`];
  return Buffer.from(lines.map((line) => `${line}\r\n`).join(''), 'latin1');
}

interface Signer {
  key: DkimKey;
  instance: number;
  seconds: number;
}

function mayAddSet(before: ReadonlyMap<number, StoredArcSet>, arc: ChainStatus, instance: number): boolean {
  if (instance > MAX_ARC_SETS) return false;
  const last = before.get(instance - 1)?.['arc-seal'];
  // RFC 8617 5.1: no set is added after a seal with cv=fail.
  if (last !== undefined && /(?:^|;)\s*cv\s*=\s*fail\s*(?:;|$)/i.test(last.value)) return false;
  return (arc === 'none') === (before.size === 0);
}

/** Groups the ARC fields of a message by instance; the first field of each name counts. */
function arcSetsOf(fields: readonly Field[]): Map<number, StoredArcSet> {
  const sets = new Map<number, StoredArcSet>();
  for (const field of fields) {
    const part = PARTS.find((one) => one === field.name);
    const instance = Number(/(?:^|;)\s*i\s*=\s*([0-9]{1,2})\s*(?:;|$)/.exec(field.value)?.[1] ?? 0);
    if (part === undefined || instance === 0) continue;
    const set = sets.get(instance) ?? {};
    set[part] ??= field;
    sets.set(instance, set);
  }
  return sets;
}

function canonicalSet(set: StoredArcSet): string[] {
  return PARTS.flatMap((part) => {
    const field = set[part];
    return field === undefined ? [] : [canonicalField(part, field.value)];
  });
}

/** Creates the value of ARC-Message-Signature: a DKIM-Signature that also covers existing DKIM-Signature fields. RFC 8617 4.1.2. */
async function messageSignature(signer: Signer, fields: readonly Field[], bodyHash: Buffer): Promise<string> {
  const { names, canonical } = selectFields(fields, ['dkim-signature']);
  const unsigned = fold(
    [
      `i=${signer.instance};`,
      ` a=${signer.key.algorithm};`,
      ' c=relaxed/relaxed;',
      ` d=${signer.key.domain};`,
      ` s=${signer.key.selector};`,
      ` t=${signer.seconds};`,
      ...names.map((name, at) => `${at === 0 ? ' h=' : ''}${name}${at === names.length - 1 ? ';' : ':'}`),
      ` bh=${bodyHash.toString('base64')};`,
      ' b=',
    ],
    'ARC-Message-Signature',
  );
  const signature = await signData(signer.key, `${canonical}${canonicalField(PARTS[1], ` ${unsigned}`)}`);
  return ` ${unsigned}${foldSignature(signature)}`;
}

/** Creates the value of ARC-Seal over the ARC fields, oldest first. RFC 8617 5.1.1. */
async function sealOver(signer: Signer, sealed: readonly string[], arc: ChainStatus): Promise<string> {
  const { key, instance, seconds } = signer;
  const words = [`i=${instance};`, ` a=${key.algorithm};`, ` t=${seconds};`, ` cv=${arc};`];
  const unsigned = fold([...words, ` d=${key.domain};`, ` s=${key.selector};`, ' b='], 'ARC-Seal');
  const signature = await signData(key, [...sealed, canonicalField(PARTS[2], ` ${unsigned}`)].join('\r\n'));
  return ` ${unsigned}${foldSignature(signature)}`;
}
