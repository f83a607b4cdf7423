import { list, wrong } from '../arguments.ts';
import { readBodyValues } from './body-values.ts';
import { type PartPlan, type PartSource, readPart } from './part.ts';

type Given = Readonly<Record<string, unknown>>;

/** The body that an Email object asks for: `bodyStructure`, or else what is shown and what is attached. RFC 8621 4.6. */
export function readBodyStructure(object: Given): PartPlan {
  const source: PartSource = { values: readBodyValues(object['bodyValues']), count: 0 };
  const { bodyStructure = null } = object;
  if (bodyStructure === null) return fromLists(object, source);
  for (const name of ['textBody', 'htmlBody', 'attachments']) {
    if ((object[name] ?? null) !== null) throw wrong(name, 'must be left out where there is a "bodyStructure"');
  }
  return readPart(bodyStructure, 'bodyStructure', source);
}

/** mixed(related(alternative(text, html), what the HTML shows), attachments), as far as there is of it. RFC 2387. */
function fromLists(object: Given, source: PartSource): PartPlan {
  const text = readShown(object, 'textBody', 'text/plain', source);
  const html = readShown(object, 'htmlBody', 'text/html', source);
  const attached = list((one, path) => leaf(readPart(one, path, source), path))(
    object['attachments'] ?? [],
    'attachments',
  );
  const inside = html === undefined ? [] : attached.filter(isShownInHtml);
  const apart = attached.filter((part) => !inside.includes(part)).map(toAttachment);
  const shown = [text, html].filter((part) => part !== undefined);
  if (shown.length + apart.length === 0) return plain('text/plain', { kind: 'text', value: '' });
  const body = wrapped('related', [...wrapped('alternative', shown), ...inside]);
  // What is attached is never the message itself.
  if (body.length === 0) return multipart('mixed', apart);
  const [only] = apart.length === 0 ? body : [];
  return only ?? multipart('mixed', [...body, ...apart]);
}

/** RFC 8621 4.6: exactly one part of exactly this type. */
function readShown(object: Given, name: string, type: string, source: PartSource): PartPlan | undefined {
  const { [name]: value = null } = object;
  if (value === null) return undefined;
  const [part, ...more] = list((one, path) => leaf(readPart(one, path, source, type), path))(value, name);
  if (part === undefined || more.length > 0) throw wrong(name, 'must have exactly one part');
  if (part.type !== type) throw wrong(name, `must be of type ${type}`);
  return part;
}

function leaf(part: PartPlan, path: string): PartPlan {
  if (part.body.kind === 'parts') throw wrong(path, 'must not have parts of its own: give a "bodyStructure" for that');
  return part;
}

function isShownInHtml(part: PartPlan): boolean {
  return part.cid !== null && part.disposition?.toLowerCase() === 'inline';
}

function toAttachment(part: PartPlan): PartPlan {
  const said = part.disposition !== null || part.lines.has('content-disposition');
  return said ? part : { ...part, disposition: 'attachment' };
}

/** One part alone needs nothing around it. RFC 2046 5.1. */
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
