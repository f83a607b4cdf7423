import { LIMITS } from '../../message/limits.ts';
import { parseParameters } from '../../message/parameters.ts';
import {
  id,
  joinPath,
  list,
  nullable,
  plainObject,
  type ArgumentReader,
  text,
  unsigned,
  wrong,
} from '../core/arguments.ts';
import { line, readPartHeaderProperties } from './header-block.ts';

/** One part of a new message. RFC 8621 4.1.4. */
export interface PartPlan {
  /** `type/subtype` in lower case; null for the blob's declared type. */
  type: string | null;
  /** Additional Content-Type parameters. */
  parameters: readonly (readonly [name: string, value: string])[];
  charset: string | null;
  name: string | null;
  disposition: string | null;
  cid: string | null;
  /** Complete lines of other header fields, by lower-case name. */
  lines: ReadonlyMap<string, string>;
  body: PartBody;
}

export type PartBody =
  { kind: 'parts'; parts: readonly PartPlan[] } | { kind: 'text'; value: string } | { kind: 'blob'; blobId: string };

/** Body values of one email, and the number of its parts so far. */
export interface PartSource {
  /** Values by part id; a part that uses a value removes it. */
  readonly values: Map<string, string>;
  count: number;
}

/** Maximum octets of header fields of one part. */
const MAX_PART_HEADER_BYTES = 32 * 1024;
const TOKEN = /^[\w!#$%&'*+\-.^`{|}~]{1,100}$/;
const TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;
const PROPERTIES = new Set(
  'partId blobId size name type charset disposition cid language location subParts'.split(' '),
);
/** Part properties by header field. */
const FIELDS: Readonly<Record<string, string>> = {
  'content-type': 'type',
  'content-disposition': 'disposition',
  'content-id': 'cid',
  'content-language': 'language',
  'content-location': 'location',
};

/** Reads an EmailBodyPart with its subParts. `fallback` is the default type. */
export function readPart(
  value: unknown,
  path: string,
  source: PartSource,
  fallback: string | null = null,
  depth = 0,
): PartPlan {
  const given = plainObject(value, path);
  const at = (name: string): unknown => (Object.hasOwn(given, name) ? given[name] : undefined);
  const odd = Object.keys(given).find((name) => !PROPERTIES.has(name) && !name.startsWith('header:'));
  if (odd !== undefined) throw wrong(joinPath(path, odd), 'is unknown or cannot be set');
  if (++source.count > LIMITS.parts) throw wrong(path, `exceeds the limit of ${LIMITS.parts} parts`);
  const header = readPartHeaderProperties(given, path, (name) => refusedField(name, given));
  if ([...header.lines.values()].join('').length > MAX_PART_HEADER_BYTES) {
    throw wrong(path, `must not have more than ${MAX_PART_HEADER_BYTES} octets of header fields`);
  }
  const raw = rawType(header.lines, path);
  const type = nullable(mediaType)(at('type'), joinPath(path, 'type')) ?? raw?.type ?? null;
  const body = readBody(given, path, type, source, depth);
  header.lines.delete('content-type');
  return {
    type: type ?? fallback ?? defaultType(body),
    parameters: raw?.parameters ?? [],
    charset: readCharset(at('charset'), joinPath(path, 'charset'), body) ?? raw?.charset ?? null,
    name: nullable(fileName)(at('name'), joinPath(path, 'name')),
    disposition: nullable(token)(at('disposition'), joinPath(path, 'disposition')),
    cid: nullable(contentId)(at('cid'), joinPath(path, 'cid')),
    lines: new Map([
      ...languageLines(nullable(list(token))(at('language'), joinPath(path, 'language'))),
      ...locationLines(nullable(location)(at('location'), joinPath(path, 'location'))),
      ...header.lines,
    ]),
    body,
  };
}

function defaultType(body: PartBody): string | null {
  if (body.kind === 'blob') return null;
  return body.kind === 'text' ? 'text/plain' : 'multipart/mixed';
}

function refusedField(name: string, given: Readonly<Record<string, unknown>>): string | undefined {
  if (name === 'content-transfer-encoding') return 'is chosen by the server';
  const property = FIELDS[name];
  return property !== undefined && (given[property] ?? null) !== null ? `is already set by "${property}"` : undefined;
}

interface RawType {
  type: string;
  charset: string | null;
  parameters: [string, string][];
}

/** Parses a raw Content-Type field, such as `text/calendar; method=REQUEST`. */
function rawType(lines: ReadonlyMap<string, string>, path: string): RawType | undefined {
  const field = lines.get('content-type');
  if (field === undefined) return undefined;
  const { value, params } = parseParameters(field.slice(field.indexOf(':') + 1).trim());
  const at = joinPath(path, 'header:Content-Type');
  const parameters = params.filter(([name]) => name !== 'boundary' && name !== 'charset');
  if (parameters.some(([name, one]) => !TOKEN.test(name) || !/^[\x20-\x7e]{1,200}$/.test(one))) {
    throw wrong(at, 'must have short parameters of ASCII');
  }
  const charset = params.find(([name]) => name === 'charset')?.[1] ?? null;
  if (charset !== null) token(charset, at);
  return { type: mediaType(value, at), charset, parameters };
}

/** Reads exactly one of partId, blobId and subParts. RFC 8621 4.6. */
function readBody(
  given: Readonly<Record<string, unknown>>,
  path: string,
  type: string | null,
  source: PartSource,
  depth: number,
): PartBody {
  const partId = nullable(text)(given['partId'], joinPath(path, 'partId'));
  const blobId = nullable(text)(given['blobId'], joinPath(path, 'blobId'));
  const isContainer = type?.startsWith('multipart/') === true || (given['subParts'] ?? null) !== null;
  if (isContainer) {
    if (partId !== null || blobId !== null) throw wrong(path, 'is a multipart and cannot have "partId" or "blobId"');
    return readParts(given['subParts'], path, type, source, depth);
  }
  if (partId !== null && blobId !== null) throw wrong(path, 'must have "partId" or "blobId", not both');
  nullable(unsigned)(given['size'], joinPath(path, 'size'));
  if (blobId !== null) return { kind: 'blob', blobId: id(blobId, joinPath(path, 'blobId')) };
  if (partId === null) throw wrong(path, 'must have a "partId" of "bodyValues" or a "blobId"');
  if ((given['size'] ?? null) !== null) throw wrong(joinPath(path, 'size'), 'must be left out with "partId"');
  const value = source.values.get(partId);
  // Each value is used once: repeated use would make the message larger than the request.
  source.values.delete(partId);
  if (value === undefined) throw wrong(joinPath(path, 'partId'), 'must name one of "bodyValues", each used once');
  return { kind: 'text', value };
}

function readParts(value: unknown, path: string, type: string | null, source: PartSource, depth: number): PartBody {
  const at = joinPath(path, 'subParts');
  if (type !== null && !type.startsWith('multipart/')) throw wrong(at, 'is only valid in a multipart');
  if (depth >= LIMITS.depth - 1) throw wrong(at, `exceeds the limit of ${LIMITS.depth - 1} levels`);
  const parts = list((one, where) => readPart(one, where, source, null, depth + 1))(value, at);
  if (parts.length === 0) throw wrong(at, 'must not be empty');
  return { kind: 'parts', parts };
}

function readCharset(value: unknown, path: string, body: PartBody): string | null {
  const charset = nullable(token)(value, path);
  if (charset !== null && body.kind !== 'blob') throw wrong(path, 'must be left out unless there is a "blobId"');
  return charset;
}

const token: ArgumentReader<string> = (value, path) => {
  const given = text(value, path);
  if (!TOKEN.test(given)) throw wrong(path, 'must be one word of ASCII');
  return given;
};

const mediaType: ArgumentReader<string> = (value, path) => {
  const given = text(value, path);
  if (!TYPE.test(given)) throw wrong(path, 'must be a media type such as text/plain, without parameters');
  return given.toLowerCase();
};

const fileName: ArgumentReader<string> = (value, path) => {
  const given = line(value, path);
  if (given.length > 1_000) throw wrong(path, 'must not be longer than 1,000 characters');
  return given;
};

const contentId: ArgumentReader<string> = (value, path) => {
  const given = text(value, path);
  if (!/^[\x21-\x3b\x3d\x3f-\x7e]{1,500}$/.test(given)) throw wrong(path, 'must be an id without angle brackets');
  return given;
};

const location: ArgumentReader<string> = (value, path) => {
  const given = text(value, path);
  if (!/^[\x21-\x7e]{1,900}$/.test(given)) throw wrong(path, 'must be a URI in ASCII');
  return given;
};

function languageLines(tags: readonly string[] | null): [string, string][] {
  return tags === null || tags.length === 0
    ? []
    : [['content-language', `Content-Language: ${tags.join(',\r\n ')}\r\n`]];
}

function locationLines(uri: string | null): [string, string][] {
  return uri === null ? [] : [['content-location', `Content-Location: ${uri}\r\n`]];
}
