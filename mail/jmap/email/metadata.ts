import { ANSWERED, DRAFT, FLAGGED, SEEN } from '../../store/flags.ts';
import type { EmailRow } from '../../store/email-rows.ts';
import { blobId, jmapId } from '../ids.ts';
import { METADATA } from './wanted.ts';

/** IMAP's flags as keywords. RFC 8621 4.1.1. */
const SYSTEM: readonly [bit: number, keyword: string][] = [
  [SEEN, '$seen'],
  [FLAGGED, '$flagged'],
  [ANSWERED, '$answered'],
  [DRAFT, '$draft'],
];

type Slots = ReadonlyMap<number, string>;

/** What the store knows of a message besides what stands in it. RFC 8621 4.1.1. */
const READ: Readonly<Record<(typeof METADATA)[number], (row: EmailRow, slots: Slots) => unknown>> = {
  id: (row) => jmapId('email', row.id),
  blobId: (row) => blobId({ kind: 'message', email: row.id }),
  threadId: (row) => jmapId('thread', row.threadId),
  mailboxIds: (row) => asSet(row.mailboxes.map((mailbox) => jmapId('mailbox', mailbox))),
  keywords: (row, slots) => asSet(keywords(row, slots)),
  size: (row) => row.size,
  receivedAt: (row) => utcDate(row.receivedAt),
};

/** Those that were asked for, and the id. */
export function metadata(
  row: EmailRow,
  slots: Slots,
  properties: ReadonlySet<string>,
): Record<string, unknown> & { id: string } {
  const found: Record<string, unknown> = {};
  for (const name of METADATA) if (properties.has(name)) found[name] = READ[name](row, slots);
  return { ...found, id: jmapId('email', row.id) };
}

function keywords(row: EmailRow, slots: Slots): string[] {
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
