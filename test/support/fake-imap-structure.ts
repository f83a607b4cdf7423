import type { MessageRow } from '../../mail/imap/imap-store.ts';
import { indexMessage } from '../../mail/message/indexer.ts';

/** Returns the structure that the store records when a message arrives. */
export function structureOf(bytes: Buffer): NonNullable<MessageRow['structure']> {
  const { envelope, bodyStructure, parts, headerLength } = indexMessage(bytes);
  return { envelope, bodyStructure, parts, headerLength };
}

/** Returns the preview that the store records when a message arrives. */
export function previewOf(bytes: Buffer): string {
  return indexMessage(bytes).preview;
}
