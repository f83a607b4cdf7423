import { isUtf8 } from 'node:buffer';

/** Octets of a string as text: UTF-8, or Latin-1 where they are not that. */
export function textOf(octets: Buffer): string {
  return isUtf8(octets) ? octets.toString('utf8') : octets.toString('latin1');
}
