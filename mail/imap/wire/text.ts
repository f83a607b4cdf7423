import { isUtf8 } from 'node:buffer';

/** Decodes octets: UTF-8, or Latin-1 when they are not valid UTF-8. */
export function textOf(octets: Buffer): string {
  return isUtf8(octets) ? octets.toString('utf8') : octets.toString('latin1');
}
