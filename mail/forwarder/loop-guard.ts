import { createHmac, timingSafeEqual } from 'node:crypto';
import { addressKey, parseAddress, withoutDetail } from '../message/address.ts';
import { type Field, firstField } from '../message/header.ts';

/** Header field that marks forwarded mail, to detect loops. */
export const MARKER = 'X-Mailstead-Forwarded';
/** Received fields before a forward is refused and the mail stays here. RFC 5321 6.3 requires 100 only for rejection. */
const MAX_RECEIVED_FIELDS = 30;
/** Characters read of an Auto-Submitted field. */
const MAX_KEYWORD_CHARACTERS = 1000;

export type ForwardDecision = { kind: 'forward' } | { kind: 'automatic' | 'loop'; why: string };

export interface ForwardFacts {
  /** The null reverse-path. */
  nullSender: boolean;
  fields: readonly Field[];
  /** Key of the forwarding address. */
  source: string;
  /** The box's key for loop markers. */
  key: Buffer;
}

/**
 * Decides whether a message can be forwarded from an address. Automatic replies, reports and mail that was forwarded from
 * here before are not. RFC 3834 2, RFC 5321 6.3.
 */
export function checkForward({ nullSender, fields, source, key }: ForwardFacts): ForwardDecision {
  const automatic = nullSender ? 'it is a report (empty reverse-path)' : automaticReason(fields);
  if (automatic !== undefined) return { kind: 'automatic', why: automatic };
  const loop = loopReason(fields, source, key);
  return loop === undefined ? { kind: 'forward' } : { kind: 'loop', why: loop };
}

/** The reason why a message counts as automatic, or undefined. List mail (Precedence: list, bulk) does not. */
export function automaticReason(fields: readonly Field[]): string | undefined {
  const type = firstField(fields, 'content-type')?.toLowerCase() ?? '';
  if (/^\s*multipart\/report\b/.test(type)) return 'it is a report';
  const auto = firstField(fields, 'auto-submitted')
    ?.slice(0, MAX_KEYWORD_CHARACTERS)
    .replace(/\([^()]*\)/g, '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  if (auto !== undefined && auto !== '' && auto !== 'no') return 'it was generated automatically (Auto-Submitted)';
  const precedence = firstField(fields, 'precedence')?.trim().toLowerCase() ?? '';
  if (['auto_reply', 'auto-reply', 'junk'].includes(precedence)) return `its Precedence is ${precedence}`;
  const replies = fields.some(({ name }) => name === 'x-autoreply' || name === 'x-autorespond');
  return replies ? 'it is an automatic reply' : undefined;
}

/** The reason why a message counts as a loop through this address, or undefined. */
function loopReason(fields: readonly Field[], source: string, key: Buffer): string | undefined {
  if (fields.filter((field) => field.name === 'received').length > MAX_RECEIVED_FIELDS)
    return `it has more than ${MAX_RECEIVED_FIELDS} Received fields`;
  if (fields.some((field) => isMarker(field, source, key))) return 'it was forwarded from here before';
  // Other forwarders may drop the marker, but keep Delivered-To for their own loop detection.
  if (fields.some((field) => isDeliveredTo(field, source))) return 'it was delivered to this address before';
  return undefined;
}

function isMarker(field: Field, source: string, key: Buffer): boolean {
  if (field.name !== MARKER.toLowerCase()) return false;
  const right = Buffer.from(marker(source, key));
  const given = Buffer.from(field.value.trim());
  return given.length === right.length && timingSafeEqual(given, right);
}

function isDeliveredTo({ name, value }: Field, source: string): boolean {
  if (name !== 'delivered-to') return false;
  const address = parseAddress(Buffer.from(value, 'latin1').toString().trim());
  return address !== undefined && addressKey(withoutDetail(address) ?? address) === source;
}

/** The marker value: a MAC, so it reveals nothing and cannot be forged. */
export function marker(source: string, key: Buffer): string {
  return createHmac('sha256', key).update(`forward ${source}`).digest('base64url').slice(0, 32);
}

/** Header lines prepended to a forwarded copy, each with its CRLF; latin1. */
export function forwardTrace(source: string, destination: string, key: Buffer): string {
  const lines = [
    `${MARKER}: ${marker(source, key)}`,
    `X-Forwarded-For: ${source}`,
    `X-Forwarded-To: ${destination}`,
    `Delivered-To: ${source}`,
  ];
  return Buffer.from(lines.map((line) => `${line}\r\n`).join('')).toString('latin1');
}
