import { ANSWERED, DRAFT, FLAGGED, SEEN } from '../../store/flags.ts';
import type { EmailRow } from '../../store/email-rows.ts';
import { blobId, jmapId } from '../ids.ts';

/** IMAP's flags as keywords. RFC 8621 4.1.1. */
const SYSTEM: readonly [bit: number, keyword: string][] = [
  [SEEN, '$seen'],
  [FLAGGED, '$flagged'],
  [ANSWERED, '$answered'],
  [DRAFT, '$draft'],
];

/** What the store knows of a message besides what stands in it. RFC 8621 4.1.1. */
export function metadata(row: EmailRow, slots: ReadonlyMap<number, string>): Record<string, unknown> & { id: string } {
  return {
    id: jmapId('email', row.id),
    blobId: blobId({ kind: 'message', email: row.id }),
    threadId: jmapId('thread', row.threadId),
    mailboxIds: asSet(row.mailboxes.map((mailbox) => jmapId('mailbox', mailbox))),
    keywords: asSet(keywords(row, slots)),
    size: row.size,
    receivedAt: utcDate(row.receivedAt),
  };
}

function keywords(row: EmailRow, slots: ReadonlyMap<number, string>): string[] {
  const system = SYSTEM.filter(([bit]) => (row.flags & bit) !== 0).map(([, keyword]) => keyword);
  const slotted = [...slots].filter(([slot]) => (row.flags & (1 << slot)) !== 0).map(([, keyword]) => keyword);
  return [...system, ...slotted, ...row.keywords];
}

function asSet(names: readonly string[]): Record<string, true> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

/** RFC 8620 1.4: a fraction of a second is left out where it is none. */
function utcDate(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
