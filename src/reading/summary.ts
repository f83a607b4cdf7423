import { publicMessageId, publicThreadId } from '../core/message-ids.ts';
import { publicId } from '../core/ids.ts';
import { headerForm } from '../../mail/message/header-forms.ts';
import type { HeaderAddress } from '../../mail/message/header-addresses.ts';
import { namedAddresses } from '../../mail/message/named-address.ts';
import { type Part, unpackParts } from '../../mail/message/parts.ts';
import { isPlainAddress } from '../../mail/message/plain-address.ts';
import { readEnvelope, type StoredEnvelope } from '../../mail/message/stored-envelope.ts';
import { type EmailRow, emailRows } from '../../mail/store/message/email-rows.ts';
import { claimsOf } from '../../mail/agents/claims/claim.ts';
import { ANSWERED, DRAFT, FLAGGED, SEEN } from '../../mail/store/mailbox/flags.ts';
import { type StoredFilterResult, filterResultsOf } from '../../mail/store/filter/filter-result.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { quarantineReleases } from '../../mail/agents/quarantine/release.ts';
import { type LocalOrigin, localOrigin } from '../../mail/store/message/local-origin.ts';
import { visibleLine } from '../untrusted/invisible.ts';
import { type ItemLimit, takeWithin, sizeOf } from '../untrusted/result-budget.ts';
import type { TextSource } from '../untrusted/untrusted.ts';
import { LinkRegistry } from './link-registry.ts';
import { type ReadingContext, openingText } from './message-text.ts';
import { replaceLinks } from './replace-links.ts';
import type { MsgSummary } from './summary-schema.ts';

const MAX_SUBJECT_CHARS = 300;
const MAX_SNIPPET_CHARS = 200;
const MAX_NAME_CHARS = 100;
const MAX_ADDRESSES = 20;
/** Limits of a summary where the sender or another user controls the amount. */
interface SummaryLimits {
  /** For each address field. */
  addresses: ItemLimit;
  labels: ItemLimit;
  files: ItemLimit;
}
const LIST_LIMITS: SummaryLimits = {
  addresses: { most: 3, chars: 200 },
  labels: { most: 20, chars: 300 },
  files: { most: 20, chars: 400 },
};
/** Limits for a message that is read alone. */
export const FULL_LIMITS: SummaryLimits = {
  addresses: { most: MAX_ADDRESSES, chars: 2_000 },
  labels: { most: 100, chars: 3_000 },
  files: { most: 20, chars: 3_000 },
};
/** Messages whose snippets are read concurrently; more would delay other readers. */
const CONCURRENCY = 8;
/** Bits of the system flags, which are separate properties. */
const SYSTEM_BITS = 31;

/** Mailbox of the shown messages. */
export interface MailboxRef {
  id: number;
  address: string;
}

/** A loaded message with its verdict, origin, labels and claim. */
export interface LoadedMessage {
  row: EmailRow;
  envelope: StoredEnvelope;
  filterResult: StoredFilterResult | undefined;
  /** Local origin, if the mailbox's own organization wrote it. */
  written: LocalOrigin | undefined;
  /** A person released it from quarantine. */
  released: boolean;
  labels: string[];
  /** Agent that holds the claim on the conversation. */
  claim: { holder: string; until: number } | undefined;
}

/** Loads messages of a mailbox by row id, in the given order; missing ones are left out. At most 500. */
export async function loadMessages(
  store: MailStore,
  { id: account }: MailboxRef,
  ids: readonly number[],
  structure = false,
): Promise<LoadedMessage[] | undefined> {
  const found = await store.read(emailRows, { account, ids, listing: true, structure });
  if (found === undefined) return undefined;
  const filterResults = await store.read(filterResultsOf, { emails: ids });
  // Filtered messages were written by outsiders.
  const written = await store.read(localOrigin, { account, emails: ids.filter((id) => !filterResults.has(id)) });
  const decided = await store.read(quarantineReleases, { emails: ids });
  const claims = await store.read(claimsOf, { account, threads: found.rows.map((row) => row.threadId) });
  const claimed = new Map(claims.map((one) => [one.thread, one]));
  const rows = new Map(found.rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = rows.get(id);
    if (row === undefined) return [];
    const envelope = readEnvelope(row.listing?.envelope ?? '()');
    const claim = claimed.get(row.threadId);
    const released = typeof decided.get(id)?.releasedAt === 'number';
    const labels = labelsOf(row, found.slots);
    return [{ row, envelope, filterResult: filterResults.get(id), written: written.get(id), released, labels, claim }];
  });
}

/** Lists keywords, and those system flags that have no property of their own here. */
function labelsOf(row: EmailRow, slots: ReadonlyMap<number, string>): string[] {
  const system = [(row.flags & ANSWERED) !== 0 && '$answered', (row.flags & DRAFT) !== 0 && '$draft'];
  const slotted = [...slots].filter(([slot]) => (row.flags & ~SYSTEM_BITS & (1 << slot)) !== 0).map(([, name]) => name);
  return [...new Set([...system.filter((one) => one !== false), ...slotted, ...row.keywords])];
}

/**
 * Runs a query over messages and halves the batch while the result is too large, so that a sender of huge messages cannot
 * hide the others on a page.
 */
export async function inBatches<T>(
  ids: readonly number[],
  query: (part: readonly number[]) => Promise<T[] | undefined>,
): Promise<T[]> {
  const all = await query(ids);
  if (all !== undefined || ids.length <= 1) return all ?? [];
  const half = Math.ceil(ids.length / 2);
  return [...(await inBatches(ids.slice(0, half), query)), ...(await inBatches(ids.slice(half), query))];
}

/** Builds the list lines of messages. */
export function summaries(library: ReadingContext, box: MailboxRef, ids: readonly number[]): Promise<MsgSummary[]> {
  return inBatches(ids, (part) => linesOf(library, box, part));
}

async function linesOf(
  library: ReadingContext,
  box: MailboxRef,
  ids: readonly number[],
): Promise<MsgSummary[] | undefined> {
  const { store } = library;
  const known = await loadMessages(store, box, ids, true);
  if (known === undefined && ids.length > 1) return undefined;
  // A structure that is too large is shown without file names and snippet.
  if (known === undefined) return (await loadMessages(store, box, ids))?.map((one) => summaryOf(box, one, [], ''));
  const lines: MsgSummary[] = [];
  for (let at = 0; at < known.length; at += CONCURRENCY) {
    lines.push(
      ...(await Promise.all(known.slice(at, at + CONCURRENCY).map((one) => summaryWithSnippet(library, box, one)))),
    );
  }
  return lines;
}

async function summaryWithSnippet(library: ReadingContext, box: MailboxRef, known: LoadedMessage): Promise<MsgSummary> {
  const { row } = known;
  const parts = row.hasAttachment ? unpackParts(row.structure?.parts ?? '[]') : [];
  const words = row.redactedFrom === null ? await openingText(library, row) : undefined;
  const snippet =
    words === undefined
      ? harmlessLine(row.listing?.preview ?? '', MAX_SNIPPET_CHARS)
      : visibleLine(words, MAX_SNIPPET_CHARS);
  return summaryOf(box, known, parts, snippet);
}

/** Builds a list line. `snippet`: the first visible words, sanitized. */
export function summaryOf(
  box: MailboxRef,
  known: LoadedMessage,
  parts: readonly Part[],
  snippet: string,
  room: SummaryLimits = LIST_LIMITS,
): MsgSummary {
  const { row, envelope, filterResult, claim } = known;
  const to = fewAddresses(envelope.to, room.addresses);
  const cc = fewAddresses(envelope.cc, room.addresses);
  const labels = takeWithin(known.labels, room.labels, ({ length }) => length);
  const names = parts.filter(({ filename }) => filename !== '');
  const shownNames = names.slice(0, room.files.most).map(({ filename }) => harmlessLine(filename, MAX_NAME_CHARS));
  const filenames = takeWithin(shownNames, room.files, sizeOf);
  return {
    id: publicMessageId(row.id),
    threadId: publicThreadId(row.threadId),
    mailboxId: publicId('mailbox', box.id),
    from: addressesOf(envelope.from)[0] ?? null,
    to: to.shown,
    cc: cc.shown,
    ...countOf('moreRecipients', to.more + cc.more),
    receivedAt: new Date(row.receivedAt).toISOString(),
    direction: isOut(box, known) ? 'out' : 'in',
    unread: (row.flags & SEEN) === 0,
    starred: (row.flags & FLAGGED) !== 0,
    labels,
    ...countOf('moreLabels', known.labels.length - labels.length),
    hasAttachments: row.hasAttachment,
    ...countOf('moreFilenames', names.length - filenames.length),
    sizeBytes: row.size,
    ...(claim !== undefined && { claim: { by: claim.holder, until: new Date(claim.until).toISOString() } }),
    trust: filterResult === undefined ? null : { ...filterResult.trust, flags: [...filterResult.trust.flags] },
    untrusted: {
      subject: subjectOf(envelope),
      snippet,
      fromName: harmlessLine(namedAddresses(envelope.from ?? [])[0]?.name ?? '', MAX_NAME_CHARS),
      filenames,
    },
  };
}

/** Adds a count of omitted items, if any. */
function countOf<N extends string>(name: N, count: number): { [name in N]?: number } {
  return count === 0 ? {} : ({ [name]: count } as { [name in N]: number });
}

/** Sanitizes a sender's text to one line without links. */
export function harmlessLine(text: string, most: number): string {
  return visibleLine(replaceLinks(visibleLine(text, 2 * most), new LinkRegistry(false)).text, most);
}

export function subjectOf({ subject }: StoredEnvelope): string {
  const text = subject === undefined ? null : headerForm('Text', subject);
  return harmlessLine(typeof text === 'string' ? text : '', MAX_SUBJECT_CHARS);
}

/** Returns the source of a message's text with its DMARC result. */
export function sourceOf(known: LoadedMessage): TextSource {
  const { row, filterResult, written } = known;
  const auth = filterResult?.trust.auth.dmarc ?? (written === undefined ? 'none' : 'own');
  return { messageId: publicMessageId(row.id), from: fromOf(known) ?? null, auth };
}

/** True if the mailbox sent it, including mail to itself. */
function isOut({ address }: MailboxRef, known: LoadedMessage): boolean {
  return known.written === 'copy' || (known.written === 'sent' && fromOf(known) === address);
}

function fromOf({ envelope }: LoadedMessage): string | undefined {
  return addressesOf(envelope.from)[0]?.address;
}

/** Lists the addresses of a field within the limit, and counts the others. */
export function fewAddresses(
  list: readonly HeaderAddress[] | undefined,
  few: ItemLimit,
): { shown: { address: string }[]; more: number } {
  const named = namedAddresses(list ?? []).map(({ email }) => email.toLowerCase());
  const shown = takeWithin(named.filter(isPlainAddress), few, ({ length }) => length);
  return { shown: shown.map((address) => ({ address })), more: named.length - shown.length };
}

/** Lists plain addresses only: they are shown outside the untrusted text. */
export function addressesOf(list: readonly HeaderAddress[] | undefined): { address: string }[] {
  return namedAddresses(list ?? [])
    .map(({ email }) => email.toLowerCase())
    .filter(isPlainAddress)
    .slice(0, MAX_ADDRESSES)
    .map((address) => ({ address }));
}
