import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** The site that passkeys belong to: they answer to its origin only. */
export interface RelyingParty {
  /** Host name. */
  id: string;
  origin: string;
}

/** Answer of a browser, as the script of the page sends it: base64url texts. */
interface PasskeyResponse {
  id: Buffer;
  clientData: Buffer;
  authenticatorData: Buffer;
  fields: Readonly<Record<string, unknown>>;
}

/** A passkey as it is stored. */
export interface RegisteredPasskey {
  credentialId: Uint8Array;
  publicKey: Uint8Array;
  counter: number;
}

const MAX_RESPONSE = 16_384;
const MAX_CREDENTIAL_ID = 1023;

/** Reads the JSON of a browser's answer; undefined if it is malformed. */
export function readResponse(text: string): PasskeyResponse | undefined {
  const fields = text.length <= MAX_RESPONSE ? parsed(text) : undefined;
  if (fields === undefined) return undefined;
  const [id, clientData, authenticatorData] = ['id', 'clientDataJSON', 'authenticatorData'].map((name) =>
    octetsOf(fields[name]),
  );
  if (id === undefined || clientData === undefined || authenticatorData === undefined) return undefined;
  return id.length === 0 || id.length > MAX_CREDENTIAL_ID ? undefined : { id, clientData, authenticatorData, fields };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function octetsOf(value: unknown): Buffer | undefined {
  return typeof value === 'string' && /^[\w-]*$/.test(value) ? Buffer.from(value, 'base64url') : undefined;
}

interface Expected {
  party: RelyingParty;
  challenge: Uint8Array;
}

/**
 * Verifies a registration, WebAuthn 7.1, without attestation: any authenticator may be used. The key is read as
 * SubjectPublicKeyInfo, which browsers return beside its COSE form; without attestation neither is signed.
 */
export function verifyRegistration(response: PasskeyResponse, expected: Expected): RegisteredPasskey | undefined {
  const { id, clientData, authenticatorData: data, fields } = response;
  const flags = flagsOf(data, expected.party);
  if (!isClientData(clientData, 'webauthn.create', expected) || flags === undefined) return undefined;
  const attested = (flags & FLAG.attestedCredential) !== 0 ? credentialIdOf(data) : undefined;
  if (attested === undefined || !attested.equals(id)) return undefined;
  const publicKey = octetsOf(fields['publicKey']);
  if (publicKey === undefined || importKey(publicKey) === undefined) return undefined;
  return { credentialId: Uint8Array.from(id), publicKey: Uint8Array.from(publicKey), counter: counterOf(data) };
}

/** Verifies a sign-in, WebAuthn 7.2. Returns the new signature counter; undefined if it is refused. */
export function verifyAssertion(
  response: PasskeyResponse,
  { publicKey, counter }: Pick<RegisteredPasskey, 'publicKey' | 'counter'>,
  expected: Expected,
): number | undefined {
  const { clientData, authenticatorData: data, fields } = response;
  if (!isClientData(clientData, 'webauthn.get', expected) || flagsOf(data, expected.party) === undefined) {
    return undefined;
  }
  const signature = octetsOf(fields['signature']);
  const key = importKey(publicKey);
  if (signature === undefined || key === undefined) return undefined;
  const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()]);
  if (!verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key, signature)) return undefined;
  const next = counterOf(data);
  // A counter that does not rise means that the authenticator was cloned. WebAuthn 6.1.1.
  return (counter === 0 && next === 0) || next > counter ? next : undefined;
}

/** Checks what the browser says it signed for: purpose, challenge and origin, not in a frame of another site. */
function isClientData(octets: Buffer, type: string, { party, challenge }: Expected): boolean {
  const data = parsed(octets.toString('utf8'));
  return (
    data !== undefined &&
    data['type'] === type &&
    data['challenge'] === Buffer.from(challenge).toString('base64url') &&
    data['origin'] === party.origin &&
    (data['crossOrigin'] === undefined || data['crossOrigin'] === false)
  );
}

/** Authenticator data, WebAuthn 6.1: hash of the RP id (32), flags (1), counter (4), then the credential. */
const FLAG = { userPresent: 0x01, userVerified: 0x04, attestedCredential: 0x40 } as const;
const FLAGS_AT = 32;
const COUNTER_AT = 33;
const CREDENTIAL_AT = 37;
const AAGUID_BYTES = 16;

/** Flags of data for this site from a verified user; undefined otherwise. */
function flagsOf(data: Buffer, { id }: RelyingParty): number | undefined {
  if (data.length < CREDENTIAL_AT) return undefined;
  if (!data.subarray(0, FLAGS_AT).equals(createHash('sha256').update(id).digest())) return undefined;
  const flags = data.readUInt8(FLAGS_AT);
  const required = FLAG.userPresent | FLAG.userVerified;
  return (flags & required) === required ? flags : undefined;
}

function counterOf(data: Buffer): number {
  return data.readUInt32BE(COUNTER_AT);
}

/** Id of the new credential. WebAuthn 6.5.1. */
function credentialIdOf(data: Buffer): Buffer | undefined {
  const at = CREDENTIAL_AT + AAGUID_BYTES;
  if (data.length < at + 2) return undefined;
  const length = data.readUInt16BE(at);
  const id = data.subarray(at + 2, at + 2 + length);
  return length > 0 && id.length === length ? id : undefined;
}

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 4096;

/** Imports a key of ES256, RS256 or Ed25519; undefined for others. */
function importKey(spki: Uint8Array): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
    return isSupported(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function isSupported({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (type === 'ec') return details?.namedCurve === 'prime256v1';
  const bits = details?.modulusLength ?? 0;
  return type === 'ed25519' || (type === 'rsa' && bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS);
}

/** COSE algorithms: ES256, EdDSA, RS256. RFC 9053, RFC 8812. */
const ALGORITHMS = [-7, -8, -257];
const TIMEOUT_MS = 5 * 60_000;

/** Options of navigator.credentials.create, with octets as base64url. The passkey must hold its user: no address is entered. */
export function creationOptions(
  { id }: RelyingParty,
  user: { userHandle: Uint8Array; email: string; displayName: string },
  { challenge, exclude }: { challenge: Uint8Array; exclude: readonly Uint8Array[] },
): object {
  return {
    rp: { id, name: id },
    user: { id: base64url(user.userHandle), name: user.email, displayName: user.displayName },
    challenge: base64url(challenge),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: exclude.map((one) => ({ type: 'public-key', id: base64url(one) })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
    timeout: TIMEOUT_MS,
  };
}

/** Options of navigator.credentials.get. */
export function requestOptions({ id }: RelyingParty, challenge: Uint8Array): object {
  return { rpId: id, challenge: base64url(challenge), userVerification: 'required', timeout: TIMEOUT_MS };
}

function base64url(octets: Uint8Array): string {
  return Buffer.from(octets).toString('base64url');
}
