import { readFields } from './header.ts';

/** RFC 5322 3.6.3: blind copies must not be shown. RFC 5321 4.4: Return-Path is written at final delivery only. */
const REMOVED = new Set(['bcc', 'resent-bcc', 'return-path']);

/**
 * The header of a submitted message as it leaves: without blind copies and Return-Path, with Date and Message-ID where
 * they are missing (RFC 6409 8). The block is given with its empty line, if it has one; all other octets stay as they
 * are. The values to add are whole field values without line ends.
 */
export function rewriteSubmittedHeader(header: Uint8Array, add: { date?: string; messageId?: string }): Uint8Array {
  const bytes = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  const fields = readFields(bytes.toString('latin1'));
  const names = new Set(fields.map(({ name }) => name));
  const end = fields.at(-1)?.end ?? 0;
  const kept = fields.filter(({ name }) => !REMOVED.has(name)).map((field) => bytes.subarray(field.start, field.end));
  const added = [
    add.date !== undefined && !names.has('date') ? `Date: ${add.date}\r\n` : '',
    add.messageId !== undefined && !names.has('message-id') ? `Message-ID: ${add.messageId}\r\n` : '',
  ].join('');
  if (added === '' && kept.length === fields.length) return header;
  const last = kept.at(-1);
  // A header that ends in the middle of a line must not run into what is added.
  const joint = added !== '' && last !== undefined && last.at(-1) !== 10 ? '\r\n' : '';
  return Buffer.concat([...kept, Buffer.from(joint + added, 'latin1'), bytes.subarray(end)]);
}
