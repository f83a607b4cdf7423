import { createPublicKey, type KeyObject } from 'node:crypto';
import type { DkimResult } from './authentication.ts';
import type { DkimAlgorithm } from './dkim-key.ts';
import { base64Value, colonList, readTags } from './tag-list.ts';

/** Why a signature does not pass. */
export interface Flaw {
  kind: 'flaw';
  result: Exclude<DkimResult, 'pass'>;
  why: string;
}

export interface PublicKey {
  kind: 'key';
  key: KeyObject;
  /** `i=` has to be of the very domain of `d=` (`t=s`). */
  strict: boolean;
}

/** Bits: less is broken (RFC 8301 3.2), more is work that nobody asks for. */
const LEAST_RSA = 1024;
const MOST_RSA = 8192;
/** Characters; an RSA key of the most bits has 1,400. */
const LONGEST_RECORD = 4096;
/** In front of the bare 32 octets of RFC 8463 4.2: the SubjectPublicKeyInfo that the platform reads. */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Records that were read last: making a key of its octets takes three times as long as verifying with it. */
const RECENT = new Map<string, PublicKey | Flaw>();
const MOST_RECENT = 500;

/** Reads the TXT record of a key for signatures of `algorithm`. RFC 6376 3.6.1, RFC 8463 4. */
export function readPublicKey(record: string, algorithm: DkimAlgorithm): PublicKey | Flaw {
  if (record.length > LONGEST_RECORD) return flaw('permerror', 'the key record is too long');
  const name = `${algorithm} ${record}`;
  const known = RECENT.get(name);
  if (known !== undefined) return known;
  const read = readRecord(record, algorithm);
  RECENT.set(name, read);
  const [oldest] = RECENT.keys();
  if (RECENT.size > MOST_RECENT && oldest !== undefined) RECENT.delete(oldest);
  return read;
}

function readRecord(record: string, algorithm: DkimAlgorithm): PublicKey | Flaw {
  const tags = readTags(record);
  if (tags === undefined) return flaw('permerror', 'the key record cannot be read');
  const value = (name: string, otherwise: string): string => tags.get(name)?.value ?? otherwise;
  // RFC 6376 3.6.1: with a version it is this one, and it stands first.
  if (tags.has('v') && (value('v', '') !== 'DKIM1' || [...tags.keys()][0] !== 'v'))
    return flaw('permerror', 'the key record is of another version');
  const type = value('k', 'rsa').toLowerCase();
  if (type !== (algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'))
    return flaw('permerror', 'the key is of another kind than the signature');
  if (!allows(value('h', ''), 'sha256', '')) return flaw('permerror', 'the key is not for SHA-256');
  if (!allows(value('s', '*'), 'email', '*')) return flaw('permerror', 'the key is not for mail');
  const text = tags.get('p')?.value;
  if (text === '') return flaw('permerror', 'the key was revoked');
  const octets = text === undefined ? undefined : base64Value(text);
  const key = octets === undefined ? undefined : keyOf(octets, algorithm);
  if (key === undefined) return flaw('permerror', 'the key cannot be read');
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < LEAST_RSA) return flaw('policy', `an RSA key of ${bits} bits proves nothing`);
  if (bits !== undefined && bits > MOST_RSA) return flaw('policy', `an RSA key of ${bits} bits is too long`);
  return { kind: 'key', key, strict: colonList(value('t', '')).includes('s') };
}

function allows(list: string, wanted: string, all: string): boolean {
  return list === all || colonList(list.toLowerCase()).some((one) => one === wanted || (all !== '' && one === all));
}

/** Undefined for octets that are no key of that kind. */
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

/** RFC 6376 3.6.1 asks for an RSAPublicKey and shows SubjectPublicKeyInfo; both are found. */
function bareRsa(octets: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: octets, format: 'der', type: 'pkcs1' });
  } catch {
    return undefined;
  }
}

export function flaw(result: Flaw['result'], why: string): Flaw {
  return { kind: 'flaw', result, why };
}
