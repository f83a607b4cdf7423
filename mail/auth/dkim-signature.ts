import { parseDomain } from '../message/address.ts';
import { isWithin } from '../dns/name.ts';
import type { DkimAlgorithm } from './dkim-key.ts';
import { signatureFailure, type SignatureFailure } from './dkim-public-key.ts';
import { base64Value, colonList, readTags, type Tags, trimBlanks } from './tag-list.ts';

/** Key reference and signature, for DKIM-Signature, ARC-Message-Signature and ARC-Seal. */
export interface Signer {
  algorithm: DkimAlgorithm;
  /** A-labels in lower case. */
  domain: string;
  selector: string;
  signature: Buffer;
}

/** Parsed tags of a message signature. */
export interface Signature extends Signer {
  kind: 'signature';
  /** `c=`: true for `relaxed`, false for `simple`. */
  relaxed: { header: boolean; body: boolean };
  /** `h=`, in lower case. */
  names: string[];
  bodyHash: Buffer;
  /** `l=`: number of signed body octets; undefined for all. */
  length: number | undefined;
  /** Domain of `i=`. */
  identity: string;
  /** Field value with an empty `b=`. */
  unsigned: string;
}

/** Tolerance for `t=` in the future. */
const MAX_CLOCK_SKEW_SECONDS = 24 * 3600;
const ALGORITHMS: readonly string[] = ['rsa-sha256', 'ed25519-sha256'];
const LABEL = /^[a-z0-9_-]+$/i;
const NUMBER = /^[0-9]{1,12}$/;

/**
 * Parses a DKIM-Signature, or an ARC-Message-Signature (`arc`), which has no `v=` and another `i=`. `now` is ms UTC.
 * Rejects a `d=` with a NUL, comment or quote; it is never truncated or looked up. RFC 6376 3.5, 6.1.1.
 */
export function readSignature(value: string, now: number, arc = false): Signature | SignatureFailure {
  const tags = readTags(value);
  if (tags === undefined) return signatureFailure('neutral', 'the signature cannot be parsed');
  if (!arc && tags.get('v')?.value !== '1') return signatureFailure('neutral', 'the signature has an unknown version');
  const signer = readSigner(tags);
  if ('kind' in signer) return signer;
  const names = colonList(tags.get('h')?.value ?? '').map((name) => name.toLowerCase());
  const bodyHash = base64Value(tags.get('bh')?.value ?? '');
  const relaxed = canonicalization(tags.get('c')?.value ?? 'simple/simple');
  const length = tags.get('l')?.value;
  const identity = arc ? signer.domain : identityOf(tags.get('i')?.value, signer.domain);
  if (bodyHash === undefined || relaxed === undefined || (length !== undefined && !/^[0-9]{1,76}$/.test(length)))
    return signatureFailure('neutral', 'the signature cannot be parsed');
  // RFC 6376 5.4: From must be signed.
  if (!names.includes('from')) return signatureFailure('permerror', 'the signature does not cover From');
  if (arc && names.includes('arc-seal')) return signatureFailure('permerror', 'the signature covers ARC-Seal');
  if (identity === undefined) return signatureFailure('permerror', 'i= is not within d=');
  const methods = colonList(tags.get('q')?.value ?? 'dns/txt');
  if (!methods.includes('dns/txt')) return signatureFailure('neutral', 'q= does not allow dns/txt');
  const wrongTime = checkTimes(tags, Math.floor(now / 1000));
  if (wrongTime !== undefined) return wrongTime;
  const rest = { relaxed, names, bodyHash, identity, unsigned: withoutSignature(value, tags) };
  return { kind: 'signature', ...signer, ...rest, length: length === undefined ? undefined : Number(length) };
}

/** Parses the tags that reference the key. RFC 8301: SHA-1 is not accepted. */
export function readSigner(tags: Tags): Signer | SignatureFailure {
  const algorithm = tags.get('a')?.value.toLowerCase() ?? '';
  if (algorithm === 'rsa-sha1') return signatureFailure('policy', 'SHA-1 is insecure');
  const domain = domainOf(tags.get('d')?.value ?? '');
  const selector = (tags.get('s')?.value ?? '').toLowerCase();
  const signature = base64Value(tags.get('b')?.value ?? '');
  if (!ALGORITHMS.includes(algorithm)) return signatureFailure('neutral', 'the signature algorithm is unknown');
  if (domain === undefined || !isSelector(selector))
    return signatureFailure('neutral', 'the signature has no valid d= or s=');
  if (signature === undefined) return signatureFailure('neutral', 'the signature cannot be parsed');
  return { algorithm: algorithm as DkimAlgorithm, domain, selector, signature };
}

/** Reads `d=` and `s=` of an invalid signature for the report; '' if they are no names. */
export function claimedSigner(value: string): { domain: string; selector: string } {
  const tags = readTags(value);
  const selector = (tags?.get('s')?.value ?? '').toLowerCase();
  return { domain: domainOf(tags?.get('d')?.value ?? '') ?? '', selector: isSelector(selector) ? selector : '' };
}

/** Returns the field value with an empty `b=`, as it was signed. RFC 6376 3.7. */
export function withoutSignature(value: string, tags: Tags): string {
  const { start, end } = tags.get('b') ?? { start: value.length, end: value.length };
  return value.slice(0, start) + value.slice(end);
}

function domainOf(text: string): string | undefined {
  const domain = parseDomain(Buffer.from(text, 'latin1').toString());
  return domain?.startsWith('[') === true ? undefined : domain;
}

function isSelector(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => label.length <= 63 && LABEL.test(label));
}

function canonicalization(text: string): Signature['relaxed'] | undefined {
  const [header = '', body = 'simple', more] = text.toLowerCase().split('/').map(trimBlanks);
  const known = [header, body].every((one) => one === 'relaxed' || one === 'simple');
  return known && more === undefined ? { header: header === 'relaxed', body: body === 'relaxed' } : undefined;
}

/** Returns the domain of `i=`; undefined unless it is `d=` or a subdomain. */
function identityOf(text: string | undefined, domain: string): string | undefined {
  if (text === undefined) return domain;
  const at = text.lastIndexOf('@');
  const identity = at < 0 ? undefined : domainOf(text.slice(at + 1));
  return identity !== undefined && isWithin(identity, domain) ? identity : undefined;
}

function checkTimes(tags: Tags, seconds: number): SignatureFailure | undefined {
  const [signed, expires] = ['t', 'x'].map((name) => tags.get(name)?.value);
  if ([signed, expires].some((text) => text !== undefined && !NUMBER.test(text)))
    return signatureFailure('neutral', 't= or x= is no number');
  if (signed !== undefined && Number(signed) > seconds + MAX_CLOCK_SKEW_SECONDS)
    return signatureFailure('fail', 't= is in the future');
  if (expires === undefined) return undefined;
  if (signed !== undefined && Number(expires) <= Number(signed)) return signatureFailure('neutral', 'x= is before t=');
  return Number(expires) < seconds ? signatureFailure('fail', 'the signature has expired') : undefined;
}
