import { unfold, type Field } from './header.ts';
import { decodedParameter, parameter, parseParameters, type Parameterized } from './parameters.ts';

/** Content fields of one part, read as latin1. Type, encoding and disposition are in lower case. */
export interface PartHeader {
  type: string;
  subtype: string;
  params: Parameterized['params'];
  encoding: string;
  disposition: Parameterized | undefined;
  id: string | undefined;
  description: string | undefined;
  md5: string | undefined;
  language: string | undefined;
  location: string | undefined;
}

const TOKEN = /^[!#$%&'*+\-.^_`{|}~0-9a-z]+$/;

/** Type of a part without Content-Type: text/plain, or a message inside multipart/digest. RFC 2046 5.1.5. */
export type DefaultType = 'text/plain' | 'message/rfc822';

/** Parses the MIME fields of a header; the first of a repeated field counts. RFC 2045. */
export function readPartHeader(fields: readonly Field[], fallback: DefaultType): PartHeader {
  const raw = new Map<string, string>();
  for (const { name, value } of fields) {
    if (name.startsWith('content-') && !raw.has(name)) raw.set(name, value);
  }
  const text = (name: string): string | undefined => {
    const value = raw.get(name);
    return value === undefined ? undefined : unfold(value);
  };
  return {
    ...contentType(text('content-type'), fallback),
    encoding: encodingName(text('content-transfer-encoding')),
    disposition: dispositionOf(text('content-disposition')),
    id: text('content-id'),
    description: text('content-description'),
    md5: text('content-md5'),
    language: text('content-language'),
    location: text('content-location'),
  };
}

/** Header of a text/plain part that replaces a simplified structure. */
export function plainTextHeader(encoding: string): PartHeader {
  const container = encoding === '8bit' || encoding === 'binary' ? encoding : '7bit';
  return { ...readPartHeader([], 'text/plain'), encoding: container };
}

function contentType(
  field: string | undefined,
  fallback: DefaultType,
): Pick<PartHeader, 'type' | 'subtype' | 'params'> {
  if (field === undefined) return defaultType(fallback);
  const { value, params } = parseParameters(field);
  const written = value.toLowerCase().split(/\s/, 1)[0] ?? '';
  const slash = written.indexOf('/');
  const type = slash < 0 ? written : written.slice(0, slash);
  const subtype = written.slice(slash + 1);
  // RFC 2045 5.2: an invalid type counts as text/plain, such as "text" alone in old mail.
  if (slash < 0 || !TOKEN.test(type) || !TOKEN.test(subtype)) return { type: 'text', subtype: 'plain', params };
  return { type, subtype, params };
}

function defaultType(fallback: DefaultType): Pick<PartHeader, 'type' | 'subtype' | 'params'> {
  if (fallback === 'message/rfc822') return { type: 'message', subtype: 'rfc822', params: [] };
  return { type: 'text', subtype: 'plain', params: [['charset', 'us-ascii']] };
}

function encodingName(field: string | undefined): string {
  if (field === undefined) return '7bit';
  const name = parseParameters(field).value.toLowerCase();
  return TOKEN.test(name) ? name : '7bit';
}

function dispositionOf(field: string | undefined): Parameterized | undefined {
  if (field === undefined) return undefined;
  const { value, params } = parseParameters(field);
  if (value === '' && params.length === 0) return undefined;
  // RFC 2183 2.8: an unknown or missing disposition type means attachment.
  return { value: value === '' ? 'attachment' : value.toLowerCase(), params };
}

/** Returns the boundary of a multipart; undefined without a usable one. */
export function boundaryOf(part: PartHeader): string | undefined {
  if (part.type !== 'multipart') return undefined;
  // As written, unless it is split by RFC 2231.
  const boundary = (parameter(part.params, 'boundary') ?? decodedParameter(part.params, 'boundary')).trimEnd();
  return boundary === '' ? undefined : boundary;
}

/**
 * True for an attached message that can be parsed. RFC 2046 5.2.1 allows only 7bit, 8bit and binary; an encoded one is
 * opaque.
 */
export function isOpenMessage(part: PartHeader): boolean {
  if (part.type !== 'message' || part.subtype !== 'rfc822') return false;
  return part.encoding === '7bit' || part.encoding === '8bit' || part.encoding === 'binary';
}

/** Estimates the characters of a header in BODYSTRUCTURE. */
export function headerSize(part: PartHeader): number {
  const texts = [part.id, part.description, part.md5, part.language, part.location];
  const params = [...part.params, ...(part.disposition?.params ?? [])].flat();
  return [...texts, ...params].reduce((sum, text) => sum + (text?.length ?? 0), 100);
}
