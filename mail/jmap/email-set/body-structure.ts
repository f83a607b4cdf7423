import { bool, joinPath, list, plainObject, text, wrong } from '../core/arguments.ts';
import { type PartPlan, type PartSource, readPart } from './part-plan.ts';

type Given = Readonly<Record<string, unknown>>;

/** Reads the body of an Email object: bodyStructure, or textBody, htmlBody and attachments. RFC 8621 4.6. */
export function readBodyStructure(object: Given): PartPlan {
  const source: PartSource = { values: readBodyValues(object['bodyValues']), count: 0 };
  const { bodyStructure = null } = object;
  if (bodyStructure === null) return fromLists(object, source);
  for (const name of ['textBody', 'htmlBody', 'attachments']) {
    if ((object[name] ?? null) !== null) throw wrong(name, 'must be left out with "bodyStructure"');
  }
  return readPart(bodyStructure, 'bodyStructure', source);
}

/** Builds mixed(related(alternative(text, html), inline), attachments), without empty levels. RFC 2387. */
function fromLists(object: Given, source: PartSource): PartPlan {
  const text = readShown(object, 'textBody', 'text/plain', source);
  const html = readShown(object, 'htmlBody', 'text/html', source);
  const attached = list((one, path) => leaf(readPart(one, path, source), path))(
    object['attachments'] ?? [],
    'attachments',
  );
  const inline = html === undefined ? [] : attached.filter(isShownInHtml);
  const attachments = attached.filter((part) => !inline.includes(part)).map(toAttachment);
  const shownParts = [text, html].filter((part) => part !== undefined);
  if (shownParts.length + attachments.length === 0) return plain('text/plain', { kind: 'text', value: '' });
  const body = wrapped('related', [...wrapped('alternative', shownParts), ...inline]);
  // An attachment is never the message's only part.
  if (body.length === 0) return multipart('mixed', attachments);
  const [only] = attachments.length === 0 ? body : [];
  return only ?? multipart('mixed', [...body, ...attachments]);
}

/** Reads a list of exactly one part of the given type. RFC 8621 4.6. */
function readShown(object: Given, name: string, type: string, source: PartSource): PartPlan | undefined {
  const { [name]: value = null } = object;
  if (value === null) return undefined;
  const [part, ...more] = list((one, path) => leaf(readPart(one, path, source, type), path))(value, name);
  if (part === undefined || more.length > 0) throw wrong(name, 'must have exactly one part');
  if (part.type !== type) throw wrong(name, `must be of type ${type}`);
  return part;
}

function leaf(part: PartPlan, path: string): PartPlan {
  if (part.body.kind === 'parts') throw wrong(path, 'must not have "subParts". Use "bodyStructure" instead');
  return part;
}

function isShownInHtml(part: PartPlan): boolean {
  return part.cid !== null && part.disposition?.toLowerCase() === 'inline';
}

function toAttachment(part: PartPlan): PartPlan {
  const hasDisposition = part.disposition !== null || part.lines.has('content-disposition');
  return hasDisposition ? part : { ...part, disposition: 'attachment' };
}

/** Wraps several parts in a multipart; a single part stays as it is. RFC 2046 5.1. */
function wrapped(kind: string, parts: readonly PartPlan[]): readonly PartPlan[] {
  return parts.length <= 1 ? parts : [multipart(kind, parts)];
}

function multipart(kind: string, parts: readonly PartPlan[]): PartPlan {
  const root = kind === 'related' ? [['type', parts[0]?.type ?? 'text/html'] as const] : [];
  return { ...plain(`multipart/${kind}`, { kind: 'parts', parts }), parameters: root };
}

function plain(type: string, body: PartPlan['body']): PartPlan {
  return {
    type,
    parameters: [],
    charset: null,
    name: null,
    disposition: null,
    cid: null,
    lines: new Map(),
    body,
  };
}

/** Reads `bodyValues` as texts by part id. RFC 8621 4.1.4. */
function readBodyValues(value: unknown): Map<string, string> {
  const given = value === undefined || value === null ? {} : plainObject(value, 'bodyValues');
  return new Map(
    Object.entries(given).map(([partId, one]) => [partId, readValue(one, joinPath('bodyValues', partId))]),
  );
}

function readValue(value: unknown, path: string): string {
  const given = plainObject(value, path);
  for (const [name, one] of Object.entries(given)) {
    if (name === 'value') continue;
    const at = joinPath(path, name);
    if (name !== 'isEncodingProblem' && name !== 'isTruncated') throw wrong(at, 'is not a known property');
    if (bool(one, at)) throw wrong(at, 'must be false: an incomplete text cannot be stored');
  }
  return text(given['value'], joinPath(path, 'value'));
}
