import { headerForm } from '../../message/header-forms.ts';
import { LIMITS } from '../../message/limits.ts';
import { namedAddresses } from '../../message/named-address.ts';
import { readEnvelope, type StoredEnvelope } from '../../message/stored-envelope.ts';
import { type BodyLists, bodyLists, type BodyPart, bodyTree, flatParts } from './body-part.ts';
import { bodyValues } from './body-value.ts';
import { type EmailSelection, type RequiredReads, requiredReadsOf } from './email-selection.ts';
import { HeaderFields, type ReadBudget } from './header-values.ts';
import type { MessageSource } from './message-source.ts';

/** Reads the requested properties that come from the message itself. RFC 8621 4.1.2 to 4.1.4. */
export async function readContent(
  source: MessageSource,
  selection: EmailSelection,
  budget: ReadBudget,
): Promise<Record<string, unknown>> {
  const needs = requiredReadsOf(selection);
  const found = listingProperties(source, selection, needs);
  if (needs.header) Object.assign(found, headerProperties(await topHeader(source, budget), selection));
  if (needs.structure) Object.assign(found, await bodyProperties(source, selection, budget));
  return found;
}

function listingProperties(
  source: MessageSource,
  { properties }: EmailSelection,
  needs: RequiredReads,
): Record<string, unknown> {
  const envelope = needs.listing ? readEnvelope(source.envelope) : undefined;
  const found: Record<string, unknown> = {};
  for (const property of properties) {
    if (property === 'hasAttachment') found[property] = source.hasAttachment;
    else if (property === 'preview') found[property] = source.preview;
    // Replaced below if values are requested.
    else if (property === 'bodyValues') found[property] = {};
    else if (envelope !== undefined && Object.hasOwn(FROM_ENVELOPE, property)) {
      found[property] = FROM_ENVELOPE[property]?.(envelope);
    }
  }
  return found;
}

/**
 * Properties from the stored ENVELOPE, which uses the first of duplicate fields and joins recipient fields, as IMAP and
 * the filter do. `header:` properties use the last field, as RFC 8621 4.1.3 requires.
 */
const FROM_ENVELOPE: Readonly<Record<string, (envelope: StoredEnvelope) => unknown>> = {
  messageId: ({ messageId }) => inForm('MessageIds', messageId),
  inReplyTo: ({ inReplyTo }) => inForm('MessageIds', inReplyTo),
  subject: ({ subject }) => inForm('Text', subject),
  sentAt: ({ date }) => inForm('Date', date),
  from: ({ from }) => (from === undefined ? null : namedAddresses(from)),
  to: ({ to }) => (to === undefined ? null : namedAddresses(to)),
  cc: ({ cc }) => (cc === undefined ? null : namedAddresses(cc)),
  bcc: ({ bcc }) => (bcc === undefined ? null : namedAddresses(bcc)),
};

function inForm(form: Parameters<typeof headerForm>[0], value: string | undefined): unknown {
  return value === undefined ? null : headerForm(form, value);
}

function headerProperties(header: HeaderFields, { properties, headers }: EmailSelection): Record<string, unknown> {
  const found = Object.fromEntries(headers.map((one): [string, unknown] => [one.property, header.read(one)]));
  for (const property of properties) {
    if (Object.hasOwn(FROM_HEADER, property)) found[property] = FROM_HEADER[property]?.(header);
  }
  return found;
}

const FROM_HEADER: Readonly<Record<string, (header: HeaderFields) => unknown>> = {
  references: (header) => inForm('MessageIds', header.first('references')),
  sender: (header) => inForm('Addresses', header.first('sender')),
  replyTo: (header) => inForm('Addresses', header.first('reply-to')),
  headers: (header) => header.all(),
};

async function bodyProperties(
  source: MessageSource,
  selection: EmailSelection,
  budget: ReadBudget,
): Promise<Record<string, unknown>> {
  const tree = bodyTree(source);
  const lists = bodyLists(tree);
  budget.takeObjects(countObjects(tree, lists, selection) * octetsOfObject(selection));
  const headers = await partHeaders(source, tree, selection, budget);
  const facts: PartFacts = {
    blobId: (path) => source.partBlobId(path),
    size: ({ part }) => part.decodedLength,
    header: (body) => headers.get(body),
  };
  const objects = (parts: readonly BodyPart[]): unknown => parts.map((part) => bodyPartObject(part, selection, facts));
  const isRequested = (name: string): boolean => selection.properties.includes(name);
  return {
    ...(isRequested('bodyStructure') && { bodyStructure: bodyStructureObject(tree, selection, facts) }),
    ...(isRequested('textBody') && { textBody: objects(lists.textBody) }),
    ...(isRequested('htmlBody') && { htmlBody: objects(lists.htmlBody) }),
    ...(isRequested('attachments') && { attachments: objects(lists.attachments) }),
    ...(isRequested('bodyValues') && {
      bodyValues: await bodyValues(source, valueParts(tree, lists, selection), selection.maxBodyValueBytes, budget),
    }),
  };
}

/** Octets of an EmailBodyPart in memory, and of each header property in it, also of one that is missing. */
const PART_OCTETS = 256;
const HEADER_OCTETS = 64;

function octetsOfObject({ bodyHeaders }: EmailSelection): number {
  return PART_OCTETS + bodyHeaders.length * HEADER_OCTETS;
}

/** EmailBodyParts in the requested lists: a message of a thousand parts has that many in each. */
function countObjects(tree: BodyPart, lists: BodyLists, { properties }: EmailSelection): number {
  const all = { bodyStructure: flatParts(tree), ...lists };
  const requested = properties.filter((name): name is keyof typeof all => Object.hasOwn(all, name));
  return requested.reduce((sum, name) => sum + all[name].length, 0);
}

/** The text parts whose values were requested, each once. */
function valueParts(tree: BodyPart, lists: BodyLists, { values }: EmailSelection): Set<BodyPart> {
  const chosen = [
    ...(values.text ? lists.textBody : []),
    ...(values.html ? lists.htmlBody : []),
    ...(values.all ? flatParts(tree) : []),
  ];
  return new Set(chosen.filter(({ part }) => part.type === 'text'));
}

/** Facts of a part that BodyPart does not have. */
interface PartFacts {
  blobId(path: string): string | null;
  size(part: BodyPart): number;
  /** Header of a part, if it was requested. */
  header(part: BodyPart): HeaderFields | undefined;
}

type PartSelection = Pick<EmailSelection, 'bodyProperties' | 'bodyHeaders'>;

/** EmailBodyPart with the requested properties, without subParts. RFC 8621 4.1.4. */
function bodyPartObject(body: BodyPart, selection: PartSelection, facts: PartFacts): Record<string, unknown> {
  const whole = partProperties(body, facts);
  const found: Record<string, unknown> = {};
  for (const name of selection.bodyProperties) if (Object.hasOwn(whole, name)) found[name] = whole[name];
  if (selection.bodyProperties.has('headers')) found['headers'] = facts.header(body)?.all() ?? [];
  for (const one of selection.bodyHeaders) found[one.property] = facts.header(body)?.read(one) ?? (one.all ? [] : null);
  return found;
}

/** EmailBodyPart with all nested parts, even if "subParts" was not requested: bodyStructure needs them. */
function bodyStructureObject(body: BodyPart, selection: PartSelection, facts: PartFacts): Record<string, unknown> {
  const found = bodyPartObject(body, selection, facts);
  if (body.subParts === null) return found;
  return { ...found, subParts: body.subParts.map((part) => bodyStructureObject(part, selection, facts)) };
}

function partProperties(body: BodyPart, facts: PartFacts): Record<string, unknown> {
  const multipart = body.subParts !== null;
  return {
    partId: multipart ? null : body.part.path,
    blobId: multipart ? null : facts.blobId(body.part.path),
    size: facts.size(body),
    name: body.name,
    type: body.type,
    charset: body.charset,
    disposition: body.disposition,
    cid: body.cid,
    language: body.language,
    location: body.location,
    subParts: null,
  };
}

/** Maximum octets read of a part's header. */
const MAX_PART_HEADER_BYTES = 16 * 1024;

/** Reads the message header, after the recipient's trace fields, up to {@link LIMITS}. */
async function topHeader(source: MessageSource, budget: ReadBudget): Promise<HeaderFields> {
  const length = Math.min(source.headerLength, LIMITS.header);
  budget.take(length + source.trace.length);
  return new HeaderFields(source.trace + (await source.read(0, length)).toString('latin1'), budget);
}

/** Reads the headers of all parts, if any was requested. */
async function partHeaders(
  source: MessageSource,
  tree: BodyPart,
  selection: EmailSelection,
  budget: ReadBudget,
): Promise<ReadonlyMap<BodyPart, HeaderFields>> {
  const found = new Map<BodyPart, HeaderFields>();
  if (selection.bodyHeaders.length === 0 && !selection.bodyProperties.has('headers')) return found;
  for (const body of flatParts(tree)) {
    found.set(body, body === tree ? await topHeader(source, budget) : await partHeader(source, body, budget));
  }
  return found;
}

async function partHeader(source: MessageSource, { part }: BodyPart, budget: ReadBudget): Promise<HeaderFields> {
  const length = Math.min(part.bodyOffset - part.headerOffset, MAX_PART_HEADER_BYTES);
  budget.take(length);
  return new HeaderFields((await source.read(part.headerOffset, length)).toString('latin1'), budget);
}
