import { X509Certificate } from 'node:crypto';
import type { AcmeClient } from './acme-client.ts';
import { AuthorityUnavailable } from './acme-error.ts';

/** Time in which the authority wants a certificate to be renewed, ms UTC. RFC 9773 4.2. */
export interface RenewalWindow {
  start: number;
  end: number;
  /** Time of the next query. */
  nextAt: number;
}

/** RFC 9773 4.3.2: the pause between two queries, ms; longer or shorter ones are not accepted. */
const DEFAULT_PAUSE_MS = 6 * 3_600_000;
const MIN_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 24 * 3_600_000;

/** Queries the renewal window of a certificate; undefined if the authority has none. */
export async function renewalWindow(
  client: AcmeClient,
  leaf: string,
  now: number,
  signal: AbortSignal,
): Promise<RenewalWindow | undefined> {
  const { renewalInfo } = await client.directory(signal);
  const id = certificateId(leaf);
  if (renewalInfo === undefined || id === undefined) return undefined;
  const { body, retryAfterMs } = await client.fetchJson(`${renewalInfo}/${id}`, signal);
  const suggested = (body['suggestedWindow'] ?? {}) as Record<string, unknown>;
  const [start, end] = [suggested['start'], suggested['end']].map((one) => Date.parse(String(one)));
  if (start === undefined || end === undefined || !(end > start)) {
    throw new AuthorityUnavailable('its renewal window has no valid times');
  }
  const pause = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, retryAfterMs ?? DEFAULT_PAUSE_MS));
  return { start, end, nextAt: now + pause };
}

/** Id of a certificate: its authority's key identifier and its serial number. RFC 9773 4.1. */
export function certificateId(leaf: string): string | undefined {
  const der = new X509Certificate(leaf);
  const keyId = authorityKeyId(der.raw);
  const hex = der.serialNumber.length % 2 === 0 ? der.serialNumber : `0${der.serialNumber}`;
  const serial = Buffer.from(hex, 'hex');
  if (keyId === undefined || serial.length === 0) return undefined;
  // The octets of a DER integer: positive, so that a set highest bit needs a zero octet.
  const octets = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial;
  return `${keyId.toString('base64url')}.${octets.toString('base64url')}`;
}

/** OBJECT IDENTIFIER 2.5.29.35 with its tag and length. */
const AUTHORITY_KEY_IDENTIFIER = Buffer.from('0603551d23', 'hex');

/** Reads keyIdentifier, the first field of the extension. RFC 5280 4.2.1.1. */
function authorityKeyId(der: Buffer): Buffer | undefined {
  const at = der.indexOf(AUTHORITY_KEY_IDENTIFIER);
  if (at < 0) return undefined;
  // OCTET STRING, SEQUENCE, [0]: each shorter than 128 octets, as a key identifier has 20 or 32.
  const value = der.subarray(at + AUTHORITY_KEY_IDENTIFIER.length);
  if (value[0] !== 0x04 || value[2] !== 0x30 || value[4] !== 0x80) return undefined;
  const length = value[5] ?? 0;
  const id = value.subarray(6, 6 + length);
  return length > 0 && length < 0x80 && id.length === length ? id : undefined;
}
