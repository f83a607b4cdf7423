import type { BodyPart } from '../../mail/jmap/email/body-part.ts';

const TEXTS = /^application\/(?:json|xml|ics|yaml|x-yaml|(?:[\w.-]{1,60}\+)(?:json|xml))$/;
const TEXT_NAMES = /\.(?:txt|csv|tsv|md|json|xml|ics|log|ya?ml)$/i;

/** By its declared kind, and for what is declared as nothing in particular by the ending of its name. */
export function isText({ type, part }: BodyPart): boolean {
  if (part.type === 'text' || TEXTS.test(type)) return true;
  return type === 'application/octet-stream' && TEXT_NAMES.test(part.filename);
}

/** By its octets: readers look for the mark in the first of them. */
export function isPdf(octets: Buffer): boolean {
  return octets.subarray(0, 1024).includes('%PDF-');
}

/** The kind of a picture that programs show, by its octets whatever it is declared as. */
export function imageType(octets: Buffer): string | undefined {
  const begins = (mark: string): boolean => octets.subarray(0, mark.length).equals(Buffer.from(mark, 'latin1'));
  if (begins('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (begins('\xff\xd8\xff')) return 'image/jpeg';
  if (begins('GIF87a') || begins('GIF89a')) return 'image/gif';
  return begins('RIFF') && octets.subarray(8, 12).equals(Buffer.from('WEBP')) ? 'image/webp' : undefined;
}
