import { formatBodyStructure } from './body-structure.ts';
import { parseDate } from './date.ts';
import { decodeWords } from './encoded-word.ts';
import { displayKey, sortKey, type EnvelopeFields } from './envelope.ts';
import type { MessageIndex } from './index-types.ts';
import { LIMITS } from './limits.ts';
import { ownId, threadRefs } from './msg-id.ts';
import { hasAttachment, partTable } from './part-table.ts';
import type { PartTree } from './part-tree.ts';
import { packParts } from './parts.ts';
import { baseSubject } from './subject.ts';

/** What the header at the top says, kept until the end. */
export interface TopHeader {
  fields: EnvelopeFields;
  references: string | undefined;
  received: number;
}

/** Subjects are columns of an index; nobody reads a longer one. */
const SUBJECT_MAX = 2000;

/** Writes down what was found, once the last octet has been seen. */
export function summarize(tree: PartTree, top: TopHeader, size: number, preview: string): MessageIndex {
  tree.settle();
  let bodyStructure = formatBodyStructure(tree.nodes);
  if (bodyStructure.length > LIMITS.structure) {
    tree.flatten();
    bodyStructure = formatBodyStructure(tree.nodes);
  }
  const parts = partTable(tree.nodes);
  return {
    size,
    headerLength: tree.root.bodyStart,
    envelope: tree.root.envelope,
    bodyStructure,
    parts: packParts(parts),
    preview,
    ...headerFacts(top),
    hasAttachment: hasAttachment(parts),
    received: top.received,
    flattened: tree.flattened,
  };
}

type HeaderFacts = Omit<
  MessageIndex,
  | 'size'
  | 'headerLength'
  | 'envelope'
  | 'bodyStructure'
  | 'parts'
  | 'preview'
  | 'hasAttachment'
  | 'received'
  | 'flattened'
>;

function headerFacts({ fields, references }: TopHeader): HeaderFacts {
  const subject = readableSubject(fields.subject);
  const own = ownId(fields.messageId);
  const sent = fields.date === undefined ? undefined : parseDate(fields.date);
  return {
    subject,
    baseSubject: baseSubject(subject),
    refs: threadRefs(own, fields.inReplyTo, references),
    messageId: own === '' ? '' : `<${own}>`,
    sentAt: sent?.at ?? 0,
    sentDay: sent?.day ?? -1,
    fromKey: sortKey(fields.from),
    toKey: sortKey(fields.to),
    ccKey: sortKey(fields.cc),
    fromDisplay: displayKey(fields.from),
    toDisplay: displayKey(fields.to),
  };
}

function readableSubject(raw: string | undefined): string {
  if (raw === undefined) return '';
  const text = decodeWords(raw)
    .replace(/[\x00-\x1f\x7f]+/g, ' ')
    .trim();
  return text.length > SUBJECT_MAX ? text.slice(0, SUBJECT_MAX).toWellFormed() : text.toWellFormed();
}
