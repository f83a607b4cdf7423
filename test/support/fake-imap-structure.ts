import type { MessageRow } from '../../mail/imap/needs.ts';
import { indexMessage } from '../../mail/message/indexer.ts';

/** What the store would have kept of a message when it arrived. */
export function structureOf(bytes: Buffer): NonNullable<MessageRow['structure']> {
  const { envelope, bodyStructure, parts, headerLength } = indexMessage(bytes);
  return { envelope, bodyStructure, parts, headerLength };
}
