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

/** Fields of the top-level header. */
export interface TopHeader {
  fields: EnvelopeFields;
  references: string | undefined;
  received: number;
}

/** Characters of a subject, which is an index column. */
const SUBJECT_MAX = 2000;

/** Builds the index after the last octet. */
export function summarize(tree: PartTree, top: TopHeader, size: number, preview: string): MessageIndex {
  tree.settle();
  let bodyStructure = formatBodyStructure(tree.nodes);
  if (bodyStructure.length > LIMITS.structure) {
    tree.flatten();
    bodyStructure = formatBodyStructure(tree.nodes);
  }
  const parts = partTable(tree.nodes);
  const { fields, references, received } = top;
  const subject = readableSubject(fields.subject);
  const own = ownId(fields.messageId);
  const sent = fields.date === undefined ? undefined : parseDate(fields.date);
  return {
    size,
    headerLength: tree.root.bodyStart,
    envelope: tree.root.envelope,
    bodyStructure,
    parts: packParts(parts),
    preview,
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
    hasAttachment: hasAttachment(parts),
    received,
    flattened: tree.flattened,
  };
}

function readableSubject(raw: string | undefined): string {
  if (raw === undefined) return '';
  const text = decodeWords(raw)
    .replace(/[\x00-\x1f\x7f]+/g, ' ')
    .trim();
  return text.length > SUBJECT_MAX ? text.slice(0, SUBJECT_MAX).toWellFormed() : text.toWellFormed();
}
