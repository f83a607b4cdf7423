import { decodeWords } from '../message/encoded-word.ts';
import { DRAFT, FLAGGED, type NamedFlags, SEEN } from '../store/mailbox/flags.ts';
import type { MailboxRole } from '../store/mailbox/mailbox.ts';

/** Folder, flags and keywords that the labels of Gmail stand for. */
export interface LabelPlacement {
  folder: string;
  role?: MailboxRole;
  flags: NamedFlags;
  /** Says in the report what was left out. */
  note?: string;
}

/** Labels that are a folder here, the first of them decides. Names in other languages become keywords. */
const FOLDERS: readonly [string, string, MailboxRole][] = [
  ['trash', 'Trash', 'trash'],
  ['spam', 'Junk', 'junk'],
  ['drafts', 'Drafts', 'drafts'],
  ['draft', 'Drafts', 'drafts'],
  ['inbox', 'INBOX', 'inbox'],
  ['sent', 'Sent', 'sent'],
  ['sent mail', 'Sent', 'sent'],
];

/** Labels that are flags, or that say nothing. */
const PLAIN = new Set(['opened', 'unread', 'starred', 'important', 'archived', 'all mail', 'muted', 'chat', 'chats']);

/** Labels of a message that are kept. */
export const MAX_LABELS = 60;

const TOO_MANY_LABELS = `It was imported with the first ${MAX_LABELS} of its labels only: a message keeps no more`;

/** Places a message by its field X-Gmail-Labels: `Inbox,Opened,"Work, old"`. */
export function placeByLabels(field: string): LabelPlacement {
  return placeLabels(splitLabels(decodeWords(field)));
}

/** The label without the backslash that those of Gmail itself have, as compared. */
export function labelKey(label: string): string {
  return label.toLowerCase().replace(/^\\/, '');
}

/**
 * Places a message by its labels. Labels of people become keywords; the message is stored once, in the folder of the first
 * special label, else in the archive.
 */
export function placeLabels(all: readonly string[]): LabelPlacement {
  const labels = all.slice(0, MAX_LABELS);
  const lower = labels.map(labelKey);
  const found = FOLDERS.find(([label]) => lower.includes(label));
  let bits = 0;
  if (lower.includes('opened') || !lower.includes('unread')) bits |= SEEN;
  if (lower.includes('starred')) bits |= FLAGGED;
  if (found?.[2] === 'drafts') bits |= DRAFT;
  const own = labels.filter((_, at) => !PLAIN.has(lower[at] ?? '') && !FOLDERS.some(([label]) => label === lower[at]));
  const keywords = [...own.map(labelKeyword), ...(lower.includes('important') ? ['$Important'] : [])];
  const [, folder = 'Archive', role = 'archive' as const] = found ?? [];
  const flags = { bits, keywords: [...new Set(keywords)].filter((word) => word !== '') };
  return { folder, role, flags, ...(all.length > MAX_LABELS && { note: TOO_MANY_LABELS }) };
}

/** A label as a keyword, which has no spaces and only ASCII: `Work/Old mail` is `Work/Old_mail`. */
export function labelKeyword(label: string): string {
  const ascii = label.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return ascii
    .replaceAll(/[^\x21-\x7e]/g, '_')
    .replaceAll(/[(){%*"\\\]]/g, '_')
    .slice(0, 64);
}

/** Splits at commas outside of quotes. */
function splitLabels(text: string): string[] {
  return Array.from(text.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g), ([, quoted, plain]) =>
    (quoted ?? plain ?? '').trim(),
  ).filter((label) => label !== '');
}
