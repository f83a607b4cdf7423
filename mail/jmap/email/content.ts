import { headerForm } from '../../message/header-forms.ts';
import { namedAddresses } from '../../message/named-address.ts';
import { readEnvelope, type StoredEnvelope } from '../../message/stored-envelope.ts';
import { type BodyLists, bodyLists } from './body-lists.ts';
import { bodyPartObject, bodyStructureObject, type PartFacts } from './body-part-object.ts';
import { type BodyPart, bodyTree, flatParts } from './body-part.ts';
import { bodyValues } from './body-value.ts';
import type { HeaderFields } from './header-values.ts';
import type { MessageSource } from './message-source.ts';
import { partHeaders, topHeader } from './message-headers.ts';
import type { ReadBudget } from './read-budget.ts';
import { type Needs, needsOf, type Wanted } from './wanted.ts';

/** The properties of an Email that stand in the message itself, those asked for. RFC 8621 4.1.2 to 4.1.4. */
export async function readContent(
  source: MessageSource,
  wanted: Wanted,
  budget: ReadBudget,
): Promise<Record<string, unknown>> {
  const needs = needsOf(wanted);
  const found = listed(source, wanted, needs);
  if (needs.header) Object.assign(found, headed(await topHeader(source, budget), wanted));
  if (needs.structure) Object.assign(found, await bodied(source, wanted, budget));
  return found;
}

function listed(source: MessageSource, { properties }: Wanted, needs: Needs): Record<string, unknown> {
  const envelope = needs.listing ? readEnvelope(source.envelope) : undefined;
  const found: Record<string, unknown> = {};
  for (const property of properties) {
    if (property === 'hasAttachment') found[property] = source.hasAttachment;
    else if (property === 'preview') found[property] = source.preview;
    // Unless some are asked for.
    else if (property === 'bodyValues') found[property] = {};
    else if (envelope !== undefined && Object.hasOwn(FROM_ENVELOPE, property)) {
      found[property] = FROM_ENVELOPE[property]?.(envelope);
    }
  }
  return found;
}

/**
 * ENVELOPE knows the first of fields that should stand once, and puts recipients of several fields together: what IMAP
 * shows and what is judged when mail arrives. `header:` properties tell the last, as RFC 8621 4.1.3 has it.
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

function headed(header: HeaderFields, { properties, headers }: Wanted): Record<string, unknown> {
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

async function bodied(source: MessageSource, wanted: Wanted, budget: ReadBudget): Promise<Record<string, unknown>> {
  const tree = bodyTree(source);
  const lists = bodyLists(tree);
  const headers = await partHeaders(source, tree, wanted, budget);
  const facts: PartFacts = {
    blobId: (path) => source.partBlobId(path),
    size: ({ part }) => part.decodedLength,
    header: (body) => headers.get(body),
  };
  const objects = (parts: readonly BodyPart[]): unknown => parts.map((part) => bodyPartObject(part, wanted, facts));
  const asked = (name: string): boolean => wanted.properties.includes(name);
  return {
    ...(asked('bodyStructure') && { bodyStructure: bodyStructureObject(tree, wanted, facts) }),
    ...(asked('textBody') && { textBody: objects(lists.textBody) }),
    ...(asked('htmlBody') && { htmlBody: objects(lists.htmlBody) }),
    ...(asked('attachments') && { attachments: objects(lists.attachments) }),
    ...(asked('bodyValues') && {
      bodyValues: await bodyValues(source, valueParts(tree, lists, wanted), wanted.maxBodyValueBytes, budget),
    }),
  };
}

/** The text parts whose values were asked for, each once. */
function valueParts(tree: BodyPart, lists: BodyLists, { values }: Wanted): Set<BodyPart> {
  const chosen = [
    ...(values.text ? lists.textBody : []),
    ...(values.html ? lists.htmlBody : []),
    ...(values.all ? flatParts(tree) : []),
  ];
  return new Set(chosen.filter(({ part }) => part.type === 'text'));
}
