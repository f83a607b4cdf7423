import { type Field, readFields } from '../message/header.ts';
import type { ChainStatus } from './authentication.ts';
import { canonicalField, type DkimKey, fold, foldSignature, selectFields, signData } from './dkim-sign.ts';

/** RFC 8617 4.2.1. */
const MOST_SETS = 50;
const PARTS = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const;
type Part = (typeof PARTS)[number];
type ArcSet = Partial<Record<Part, Field>>;

export interface Sealing {
  /** The first RSA key seals: not everybody verifies Ed25519 here. Without a key there is no seal. */
  keys: readonly DkimKey[];
  /** What was found of the chain so far when the message came. */
  arc: ChainStatus;
  /** ms UTC. */
  now: number;
}

/**
 * One ARC set for the top of a message, complete with CRLF, over the header block as it leaves and the hash of its body.
 * Its results are those of the first Authentication-Results, which must be our own. RFC 8617 5.1.
 *
 * A chain that was found broken is sealed as such, `cv=fail` over the new set alone (RFC 8617 5.1.2): whoever comes after
 * us need not wonder who broke it. Nothing is added to one that says so already, is full, or has sets that are no chain.
 */
export async function sealHeaders(header: Uint8Array, bodyHash: Buffer, sealing: Sealing): Promise<Buffer> {
  const fields = readFields(Buffer.from(header.buffer, header.byteOffset, header.byteLength).toString('latin1'));
  const { keys, arc, now } = sealing;
  const key = keys.find(({ algorithm }) => algorithm === 'rsa-sha256') ?? keys[0];
  const results = fields.find(({ name }) => name === 'authentication-results');
  const before = chainOf(fields);
  const instance = Math.max(0, ...before.keys()) + 1;
  if (key === undefined || results === undefined || !mayFollow(before, arc, instance)) return Buffer.alloc(0);
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

function mayFollow(before: ReadonlyMap<number, ArcSet>, arc: ChainStatus, instance: number): boolean {
  if (instance > MOST_SETS) return false;
  const last = before.get(instance - 1)?.['arc-seal'];
  // RFC 8617 5.1: no set is added to a chain that has failed and says so.
  if (last !== undefined && /(?:^|;)\s*cv\s*=\s*fail\s*(?:;|$)/i.test(last.value)) return false;
  return (arc === 'none') === (before.size === 0);
}

/** The sets of a message by their instance; the first field of its kind counts. */
function chainOf(fields: readonly Field[]): Map<number, ArcSet> {
  const sets = new Map<number, ArcSet>();
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

function canonicalSet(set: ArcSet): string[] {
  return PARTS.flatMap((part) => {
    const field = set[part];
    return field === undefined ? [] : [canonicalField(part, field.value)];
  });
}

/** The value of ARC-Message-Signature: as a DKIM-Signature, and over those too that it came with. RFC 8617 4.1.2. */
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

/** The value of ARC-Seal, over the fields in the order in which they were added. RFC 8617 5.1.1. */
async function sealOver(signer: Signer, sealed: readonly string[], arc: ChainStatus): Promise<string> {
  const { key, instance, seconds } = signer;
  const words = [`i=${instance};`, ` a=${key.algorithm};`, ` t=${seconds};`, ` cv=${arc};`];
  const unsigned = fold([...words, ` d=${key.domain};`, ` s=${key.selector};`, ' b='], 'ARC-Seal');
  const signature = await signData(key, [...sealed, canonicalField(PARTS[2], ` ${unsigned}`)].join('\r\n'));
  return ` ${unsigned}${foldSignature(signature)}`;
}
