import { createPublicKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { DkimResult } from './authentication.ts';
import type { DkimAlgorithm } from './dkim-key.ts';
import { base64Value, colonList, readTags } from './tag-list.ts';

/** Reason why a signature does not pass. */
export interface SignatureFailure {
  kind: 'failure';
  result: Exclude<DkimResult, 'pass'>;
  why: string;
}

export interface PublicKey {
  kind: 'key';
  key: KeyObject;
  /** `t=s`: the domain of `i=` must equal `d=`. */
  strict: boolean;
}

/** RSA key sizes: smaller keys are insecure (RFC 8301 3.2), larger ones cost too much CPU. */
const MIN_RSA_BITS = 1024;
const MAX_RSA_BITS = 8192;
/** Characters; an RSA key of 8192 bits has 1,400. */
const MAX_RECORD_CHARS = 4096;
/** SubjectPublicKeyInfo prefix for the bare 32 octets of RFC 8463 4.2. */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Cache of parsed keys: parsing a key takes three times as long as verifying with it. */
const RECENT = new LRUCache<string, PublicKey | SignatureFailure>({ max: 500 });

/** Parses a DKIM key record for signatures of `algorithm`. RFC 6376 3.6.1, RFC 8463 4. */
export function readPublicKey(record: string, algorithm: DkimAlgorithm): PublicKey | SignatureFailure {
  if (record.length > MAX_RECORD_CHARS) return signatureFailure('permerror', 'the key record is too long');
  const name = `${algorithm} ${record}`;
  const known = RECENT.get(name);
  if (known !== undefined) return known;
  const read = readRecord(record, algorithm);
  RECENT.set(name, read);
  return read;
}

function readRecord(record: string, algorithm: DkimAlgorithm): PublicKey | SignatureFailure {
  const tags = readTags(record);
  if (tags === undefined) return signatureFailure('permerror', 'the key record cannot be parsed');
  const value = (name: string, otherwise: string): string => tags.get(name)?.value ?? otherwise;
  // RFC 6376 3.6.1: v= is optional, but must be DKIM1 and come first.
  if (tags.has('v') && (value('v', '') !== 'DKIM1' || [...tags.keys()][0] !== 'v'))
    return signatureFailure('permerror', 'the key record has an unknown version');
  const type = value('k', 'rsa').toLowerCase();
  if (type !== (algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'))
    return signatureFailure('permerror', 'the key type does not match the signature algorithm');
  if (!allows(value('h', ''), 'sha256', '')) return signatureFailure('permerror', 'the key does not allow SHA-256');
  if (!allows(value('s', '*'), 'email', '*')) return signatureFailure('permerror', 'the key is not for email (s=)');
  const text = tags.get('p')?.value;
  if (text === '') return signatureFailure('permerror', 'the key was revoked');
  const octets = text === undefined ? undefined : base64Value(text);
  const key = octets === undefined ? undefined : keyOf(octets, algorithm);
  if (key === undefined) return signatureFailure('permerror', 'the public key is invalid');
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < MIN_RSA_BITS)
    return signatureFailure('policy', `an RSA key of ${bits} bits is too short`);
  if (bits !== undefined && bits > MAX_RSA_BITS)
    return signatureFailure('policy', `an RSA key of ${bits} bits is too long`);
  return { kind: 'key', key, strict: colonList(value('t', '')).includes('s') };
}

function allows(list: string, wanted: string, all: string): boolean {
  return list === all || colonList(list.toLowerCase()).some((one) => one === wanted || (all !== '' && one === all));
}

/** Parses key octets; undefined if they are no key of that type. */
function keyOf(octets: Buffer, algorithm: DkimAlgorithm): KeyObject | undefined {
  const der = { format: 'der', type: 'spki' } as const;
  try {
    if (algorithm === 'ed25519-sha256') {
      return octets.length === 32
        ? createPublicKey({ key: Buffer.concat([ED25519_PREFIX, octets]), ...der })
        : undefined;
    }
    const key = createPublicKey({ key: octets, ...der });
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    return algorithm === 'rsa-sha256' ? bareRsa(octets) : undefined;
  }
}

/** RFC 6376 3.6.1 specifies RSAPublicKey but its example has SubjectPublicKeyInfo; both are in use. */
function bareRsa(octets: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: octets, format: 'der', type: 'pkcs1' });
  } catch {
    return undefined;
  }
}

export function signatureFailure(result: SignatureFailure['result'], why: string): SignatureFailure {
  return { kind: 'failure', result, why };
}
