import { readFields } from './header.ts';

/** RFC 5322 3.6.3: Bcc must not be disclosed. RFC 5321 4.4: Return-Path is added at final delivery only. */
const REMOVED_FIELDS = new Set(['bcc', 'resent-bcc', 'return-path']);

/**
 * Rewrites the header of a submitted message: removes Bcc and Return-Path, adds a missing Date and Message-ID (RFC 6409
 * 8). `header` includes its empty line, if any; all other octets are unchanged. Added values have no line ends.
 */
export function rewriteSubmittedHeader(header: Uint8Array, add: { date?: string; messageId?: string }): Uint8Array {
  const bytes = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  const fields = readFields(bytes.toString('latin1'));
  const names = new Set(fields.map(({ name }) => name));
  const end = fields.at(-1)?.end ?? 0;
  const kept = fields
    .filter(({ name }) => !REMOVED_FIELDS.has(name))
    .map((field) => bytes.subarray(field.start, field.end));
  const added = [
    add.date !== undefined && !names.has('date') ? `Date: ${add.date}\r\n` : '',
    add.messageId !== undefined && !names.has('message-id') ? `Message-ID: ${add.messageId}\r\n` : '',
  ].join('');
  if (added === '' && kept.length === fields.length) return header;
  const last = kept.at(-1);
  // A header without a final line end must not merge with the added fields.
  const joint = added !== '' && last !== undefined && last.at(-1) !== 10 ? '\r\n' : '';
  return Buffer.concat([...kept, Buffer.from(joint + added, 'latin1'), bytes.subarray(end)]);
}
