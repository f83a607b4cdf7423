import { jmapId } from '../../mail/jmap/ids.ts';
import { headerForm } from '../../mail/message/header-forms.ts';
import type { HeaderAddress } from '../../mail/message/header-addresses.ts';
import { namedAddresses } from '../../mail/message/named-address.ts';
import { type Part, unpackParts } from '../../mail/message/parts.ts';
import { isPlainAddress } from '../../mail/message/plain-address.ts';
import { readEnvelope, type StoredEnvelope } from '../../mail/message/stored-envelope.ts';
import { type EmailRow, emailRows } from '../../mail/store/email-rows.ts';
import { claimsOf } from '../../mail/store/claim.ts';
import { ANSWERED, DRAFT, FLAGGED, SEEN } from '../../mail/store/flags.ts';
import { type Judged, judgedOf } from '../../mail/store/judged.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { withheldOf } from '../../mail/store/withheld.ts';
import { type WrittenHere, writtenHere } from '../../mail/store/written-here.ts';
import { publicId } from '../ids.ts';
import { visibleLine } from '../untrusted/invisible.ts';
import { type Few, fewOf, sizeOf } from '../untrusted/room.ts';
import type { Source } from '../untrusted/untrusted.ts';
import { LinkBook } from './link-book.ts';
import { type Library, openingWords } from './message-text.ts';
import { plainReading } from './plain-reading.ts';
import type { MsgSummary } from './shown.ts';

const MOST_SUBJECT = 300;
const MOST_SNIPPET = 200;
const MOST_NAME = 100;
const MOST_ADDRESSES = 20;
/** What a summary has room for, where a stranger, or who sets keywords, says how much there is. */
interface Room {
  /** Of each field. */
  addresses: Few;
  labels: Few;
  files: Few;
}
const IN_LIST: Room = {
  addresses: { most: 3, chars: 200 },
  labels: { most: 20, chars: 300 },
  files: { most: 20, chars: 400 },
};
/** Of a message that is read by itself. */
export const ALONE: Room = {
  addresses: { most: MOST_ADDRESSES, chars: 2_000 },
  labels: { most: 100, chars: 3_000 },
  files: { most: 20, chars: 3_000 },
};
/** Messages whose first words are read at the same time: more would have others wait for all of them. */
const AT_ONCE = 8;
/** A slot of these is a property of its own. */
const SYSTEM_BITS = 31;

/** A mailbox whose mail is shown. */
export interface Box {
  id: number;
  address: string;
}

/** A message with what is known of it. */
export interface Known {
  row: EmailRow;
  envelope: StoredEnvelope;
  judged: Judged | undefined;
  /** How the mailbox's own organization wrote it, where it did. */
  written: WrittenHere | undefined;
  /** A person has shown it to programs. */
  released: boolean;
  labels: string[];
  /** The agent that works on its conversation. */
  claim: { holder: string; until: number } | undefined;
}

/** Messages of a mailbox by their rows, in the order asked; those that are not shown are left out. At most 500. */
export async function knownMessages(
  store: MailStore,
  { id: account }: Box,
  ids: readonly number[],
  structure = false,
): Promise<Known[] | undefined> {
  const found = await store.read(emailRows, { account, ids, listing: true, structure });
  if (found === undefined) return undefined;
  const judged = await store.read(judgedOf, { emails: ids });
  // Of what was judged somebody outside is the author.
  const written = await store.read(writtenHere, { account, emails: ids.filter((id) => !judged.has(id)) });
  const decided = await store.read(withheldOf, { emails: ids });
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
    return [{ row, envelope, judged: judged.get(id), written: written.get(id), released, labels, claim }];
  });
}

/** Keywords; of the system's own, which have a property each, those that have none here. */
function labelsOf(row: EmailRow, slots: ReadonlyMap<number, string>): string[] {
  const system = [(row.flags & ANSWERED) !== 0 && '$answered', (row.flags & DRAFT) !== 0 && '$draft'];
  const slotted = [...slots].filter(([slot]) => (row.flags & ~SYSTEM_BITS & (1 << slot)) !== 0).map(([, name]) => name);
  return [...new Set([...system.filter((one) => one !== false), ...slotted, ...row.keywords])];
}

/**
 * What is asked of messages together; of those that are too large together in parts, as a stranger who sent them would
 * else hide all the others of a page.
 */
export async function inParts<T>(
  ids: readonly number[],
  ask: (part: readonly number[]) => Promise<T[] | undefined>,
): Promise<T[]> {
  const together = await ask(ids);
  if (together !== undefined || ids.length <= 1) return together ?? [];
  const half = Math.ceil(ids.length / 2);
  return [...(await inParts(ids.slice(0, half), ask)), ...(await inParts(ids.slice(half), ask))];
}

/** Lines of a list. */
export function summaries(library: Library, box: Box, ids: readonly number[]): Promise<MsgSummary[]> {
  return inParts(ids, (part) => linesOf(library, box, part));
}

async function linesOf(library: Library, box: Box, ids: readonly number[]): Promise<MsgSummary[] | undefined> {
  const { store } = library;
  const known = await knownMessages(store, box, ids, true);
  if (known === undefined && ids.length > 1) return undefined;
  // A structure that is too large says no file names, and nothing that might be hidden.
  if (known === undefined) return (await knownMessages(store, box, ids))?.map((one) => summaryOf(box, one, [], ''));
  const lines: MsgSummary[] = [];
  for (let at = 0; at < known.length; at += AT_ONCE) {
    lines.push(...(await Promise.all(known.slice(at, at + AT_ONCE).map((one) => summaryWithWords(library, box, one)))));
  }
  return lines;
}

async function summaryWithWords(library: Library, box: Box, known: Known): Promise<MsgSummary> {
  const { row } = known;
  const parts = row.hasAttachment ? unpackParts(row.structure?.parts ?? '[]') : [];
  const words = row.veiledFrom === null ? await openingWords(library, row) : undefined;
  const snippet =
    words === undefined ? harmlessLine(row.listing?.preview ?? '', MOST_SNIPPET) : visibleLine(words, MOST_SNIPPET);
  return summaryOf(box, known, parts, snippet);
}

/** A line of a list; `snippet`: the first words of what a person sees, made harmless. */
export function summaryOf(
  box: Box,
  known: Known,
  parts: readonly Part[],
  snippet: string,
  room: Room = IN_LIST,
): MsgSummary {
  const { row, envelope, judged, claim } = known;
  const to = fewAddresses(envelope.to, room.addresses);
  const cc = fewAddresses(envelope.cc, room.addresses);
  const labels = fewOf(known.labels, room.labels, ({ length }) => length);
  const names = parts.filter(({ filename }) => filename !== '');
  const shownNames = names.slice(0, room.files.most).map(({ filename }) => harmlessLine(filename, MOST_NAME));
  const filenames = fewOf(shownNames, room.files, sizeOf);
  return {
    id: jmapId('email', row.id),
    threadId: jmapId('thread', row.threadId),
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
    trust: judged === undefined ? null : { ...judged.trust, flags: [...judged.trust.flags] },
    untrusted: {
      subject: subjectOf(envelope),
      snippet,
      fromName: harmlessLine(namedAddresses(envelope.from ?? [])[0]?.name ?? '', MOST_NAME),
      filenames,
    },
  };
}

/** What is left out is counted. */
function countOf<N extends string>(name: N, count: number): { [name in N]?: number } {
  return count === 0 ? {} : ({ [name]: count } as { [name in N]: number });
}

/** One line of a sender's without anything that leads somewhere. */
export function harmlessLine(text: string, most: number): string {
  return visibleLine(plainReading(visibleLine(text, 2 * most), new LinkBook(false)).text, most);
}

export function subjectOf({ subject }: StoredEnvelope): string {
  const text = subject === undefined ? null : headerForm('Text', subject);
  return harmlessLine(typeof text === 'string' ? text : '', MOST_SUBJECT);
}

/** Who wrote a message, as far as this box knows. */
export function sourceOf(known: Known): Source {
  const { row, judged, written } = known;
  const auth = judged?.trust.auth.dmarc ?? (written === undefined ? 'none' : 'own');
  return { messageId: jmapId('email', row.id), from: fromOf(known) ?? null, auth };
}

/** The mailbox wrote it; what it wrote to itself is out as well. */
function isOut({ address }: Box, known: Known): boolean {
  return known.written === 'copy' || (known.written === 'sent' && fromOf(known) === address);
}

function fromOf({ envelope }: Known): string | undefined {
  return addressesOf(envelope.from)[0]?.address;
}

/** Addresses of a field of which there is room, and how many more it names. */
export function fewAddresses(
  list: readonly HeaderAddress[] | undefined,
  few: Few,
): { shown: { address: string }[]; more: number } {
  const named = namedAddresses(list ?? []).map(({ email }) => email.toLowerCase());
  const shown = fewOf(named.filter(isPlainAddress), few, ({ length }) => length);
  return { shown: shown.map((address) => ({ address })), more: named.length - shown.length };
}

/** Addresses that are nothing but addresses: they stand outside of what is marked as the sender's. */
export function addressesOf(list: readonly HeaderAddress[] | undefined): { address: string }[] {
  return namedAddresses(list ?? [])
    .map(({ email }) => email.toLowerCase())
    .filter(isPlainAddress)
    .slice(0, MOST_ADDRESSES)
    .map((address) => ({ address }));
}
