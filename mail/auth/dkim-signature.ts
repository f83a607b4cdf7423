import { parseDomain } from '../message/address.ts';
import { isWithin } from '../dns/name.ts';
import type { DkimAlgorithm } from './dkim-key.ts';
import { flaw, type Flaw } from './dkim-public-key.ts';
import { base64Value, colonList, readTags, type Tags, trimBlanks } from './tag-list.ts';

/** Which key made a signature: of DKIM-Signature, ARC-Message-Signature and ARC-Seal alike. */
export interface Signer {
  algorithm: DkimAlgorithm;
  /** A-labels in lower case. */
  domain: string;
  selector: string;
  signature: Buffer;
}

/** A signature over a message, as its tags say. */
export interface Signature extends Signer {
  kind: 'signature';
  /** Where the header and the body are canonicalized `relaxed` and not `simple`. */
  relaxed: { header: boolean; body: boolean };
  /** `h=`, in lower case. */
  names: string[];
  bodyHash: Buffer;
  /** `l=`: octets of the body that were signed; undefined for all. */
  length: number | undefined;
  /** Of `i=`. */
  identity: string;
  /** The value of the field without that of `b=`. */
  unsigned: string;
}

/** A key that is dated later than this is dated wrongly, seconds. */
const SKEW = 24 * 3600;
const ALGORITHMS: readonly string[] = ['rsa-sha256', 'ed25519-sha256'];
const LABEL = /^[a-z0-9_-]+$/i;
const NUMBER = /^[0-9]{1,12}$/;

/**
 * Reads a DKIM-Signature, or an ARC-Message-Signature (`arc`), which has no `v=` and another `i=`. `now` is ms UTC. What
 * is not plainly a domain is none: a NUL, a comment or a quote in `d=` is never cut off or looked up. RFC 6376 3.5, 6.1.1.
 */
export function readSignature(value: string, now: number, arc = false): Signature | Flaw {
  const tags = readTags(value);
  if (tags === undefined) return flaw('neutral', 'the signature cannot be read');
  if (!arc && tags.get('v')?.value !== '1') return flaw('neutral', 'the signature is of another version');
  const signer = readSigner(tags);
  if ('kind' in signer) return signer;
  const names = colonList(tags.get('h')?.value ?? '').map((name) => name.toLowerCase());
  const bodyHash = base64Value(tags.get('bh')?.value ?? '');
  const relaxed = canonicalization(tags.get('c')?.value ?? 'simple/simple');
  const length = tags.get('l')?.value;
  const identity = arc ? signer.domain : identityOf(tags.get('i')?.value, signer.domain);
  if (bodyHash === undefined || relaxed === undefined || (length !== undefined && !/^[0-9]{1,76}$/.test(length)))
    return flaw('neutral', 'the signature cannot be read');
  // RFC 6376 5.4: a signature that leaves the author open says nothing.
  if (!names.includes('from')) return flaw('permerror', 'the signature does not cover From');
  if (arc && names.includes('arc-seal')) return flaw('permerror', 'the signature covers a seal');
  if (identity === undefined) return flaw('permerror', 'i= is not within d=');
  const methods = colonList(tags.get('q')?.value ?? 'dns/txt');
  if (!methods.includes('dns/txt')) return flaw('neutral', 'the key is not in the DNS');
  const wrongTime = timeFlaw(tags, Math.floor(now / 1000));
  if (wrongTime !== undefined) return wrongTime;
  const rest = { relaxed, names, bodyHash, identity, unsigned: withoutSignature(value, tags) };
  return { kind: 'signature', ...signer, ...rest, length: length === undefined ? undefined : Number(length) };
}

/** The tags that say which key signed. RFC 8301: SHA-1 proves nothing any more. */
export function readSigner(tags: Tags): Signer | Flaw {
  const algorithm = tags.get('a')?.value.toLowerCase() ?? '';
  if (algorithm === 'rsa-sha1') return flaw('policy', 'SHA-1 proves nothing');
  const domain = domainOf(tags.get('d')?.value ?? '');
  const selector = (tags.get('s')?.value ?? '').toLowerCase();
  const signature = base64Value(tags.get('b')?.value ?? '');
  if (!ALGORITHMS.includes(algorithm)) return flaw('neutral', 'the algorithm is not known');
  if (domain === undefined || !isSelector(selector)) return flaw('neutral', 'the signature names no domain');
  if (signature === undefined) return flaw('neutral', 'the signature cannot be read');
  return { algorithm: algorithm as DkimAlgorithm, domain, selector, signature };
}

/** What `d=` and `s=` of a field name, for the report on one that could not be read: '' for what is no name. */
export function claimedSigner(value: string): { domain: string; selector: string } {
  const tags = readTags(value);
  const selector = (tags?.get('s')?.value ?? '').toLowerCase();
  return { domain: domainOf(tags?.get('d')?.value ?? '') ?? '', selector: isSelector(selector) ? selector : '' };
}

/** The field's value with an empty `b=`, which is what was signed. RFC 6376 3.7. */
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

/** The domain of `i=`, which is `d=` or below it. */
function identityOf(text: string | undefined, domain: string): string | undefined {
  if (text === undefined) return domain;
  const at = text.lastIndexOf('@');
  const identity = at < 0 ? undefined : domainOf(text.slice(at + 1));
  return identity !== undefined && isWithin(identity, domain) ? identity : undefined;
}

function timeFlaw(tags: Tags, seconds: number): Flaw | undefined {
  const [signed, expires] = ['t', 'x'].map((name) => tags.get(name)?.value);
  if ([signed, expires].some((text) => text !== undefined && !NUMBER.test(text)))
    return flaw('neutral', 'the signature is dated unreadably');
  if (signed !== undefined && Number(signed) > seconds + SKEW) return flaw('fail', 'the signature is of the future');
  if (expires === undefined) return undefined;
  if (signed !== undefined && Number(expires) <= Number(signed)) return flaw('neutral', 'x= is before t=');
  return Number(expires) < seconds ? flaw('fail', 'the signature has expired') : undefined;
}
