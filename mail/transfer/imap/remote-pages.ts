import type { FetchMessageObject, ImapFlow } from 'imapflow';
import { fromUtf7 } from '../../imap/wire/mailbox-name.ts';
import type { NamedFlags } from '../../store/mailbox/flags.ts';
import { labelKey, MAX_LABELS } from '../gmail-labels.ts';
import { SourceLost } from '../importer.ts';
import { remoteFlags } from './remote-flags.ts';
import { FolderRefused, RemoteAnswerInvalid } from './remote-failure.ts';
import type { RemoteFolder } from './remote-folders.ts';
import { withOctetLimit } from './remote-session.ts';

/** Messages of one page, and octets of the responses with their facts: labels can be long. */
export const PAGE = 1_000;
const MAX_PAGE_OCTETS = 8 * 1024 * 1024;
/** Messages of one folder: their UIDs are in memory, 4 octets each. */
const MAX_MESSAGES = 10_000_000;
/** Pages without a message in a row: such a server counts messages that it does not have. */
const MAX_EMPTY_PAGES = 20;
const MAX_LABEL = 256;

/** Facts of a message there. */
export interface RemoteFacts {
  uid: number;
  size: number;
  flags: NamedFlags;
  /** ms UTC; undefined: the server gave none. */
  receivedAt: number | undefined;
  /** Gmail; undefined: no labels. */
  labels: readonly string[] | undefined;
}

/** Facts of some messages of a folder by UID, ascending, and above all UIDs of the page before. */
export type RemotePage = ReadonlyMap<number, RemoteFacts>;

/**
 * Reads the facts of all messages of the open folder, a page at a time: those of a large folder do not fit into memory. What
 * arrives meanwhile is on the last pages. Throws RemoteAnswerInvalid when it gets too much, or when
 * the server counts messages that it does not send, and SourceLost when the connection ends between two pages.
 */
export async function* remotePages(client: ImapFlow, isGmail: boolean): AsyncGenerator<RemotePage> {
  let gone = 0;
  const onExpunge = (): void => void gone++;
  client.on('expunge', onExpunge);
  try {
    let last = 0;
    let empty = 0;
    for (let next = 1; next <= existing(client); next = Math.max(1, next + PAGE - gone)) {
      if (next > MAX_MESSAGES) throw new FolderRefused(`It has more than ${MAX_MESSAGES} messages`);
      // Sequence numbers above an expunged message go down: the pages overlap by as many, and UIDs say what is new.
      gone = 0;
      const page = await readPage(
        client,
        { first: next, end: Math.min(next + PAGE - 1, existing(client)) },
        last,
        isGmail,
      );
      empty = page.size === 0 ? empty + 1 : 0;
      if (empty > MAX_EMPTY_PAGES)
        throw new RemoteAnswerInvalid('The other server counts messages that it does not send');
      last = [...page.keys()].at(-1) ?? last;
      if (page.size > 0) yield page;
    }
  } finally {
    client.off('expunge', onExpunge);
  }
}

/** The pages of a folder, without the messages that the pull takes from the folders of their labels. */
export async function* folderPages(client: ImapFlow, folder: RemoteFolder): AsyncGenerator<RemotePage> {
  for await (const page of remotePages(client, folder.isAllMail)) {
    yield withoutElsewhere(page, folder);
  }
}

/** A page without the messages that the pull takes from the folders of their labels. They are in this folder all the same. */
export function withoutElsewhere(page: RemotePage, folder: RemoteFolder): RemotePage {
  return folder.elsewhere.size === 0 ? page : new Map([...page].filter(([, facts]) => !isElsewhere(facts, folder)));
}

function isElsewhere({ labels = [] }: RemoteFacts, { elsewhere }: RemoteFolder): boolean {
  return labels.some((label) => elsewhere.has(labelKey(label)));
}

/** A closed connection has no folder: its messages must not seem to be all read, as those that are left would be deleted here. */
function existing({ mailbox }: ImapFlow): number {
  if (mailbox === false) throw new SourceLost('The connection was lost');
  return mailbox.exists;
}

async function readPage(
  client: ImapFlow,
  { first, end }: { first: number; end: number },
  after: number,
  isGmail: boolean,
): Promise<RemotePage> {
  const found = new Map<number, RemoteFacts>();
  const wanted = { uid: true, flags: true, size: true, internalDate: true, labels: isGmail } as const;
  await withOctetLimit(client, MAX_PAGE_OCTETS, async () => {
    for await (const message of client.fetch(`${first}:${end}`, wanted)) {
      const { seq, uid, size } = message;
      // The server also reports flags that another session changed, of any message and without a size. RFC 9051 7.5.2.
      if (seq < first || seq > end || (size === undefined && found.has(uid))) continue;
      const isValid = Number.isInteger(uid) && uid > after && uid <= 0xffffffff;
      if (isValid && (found.size < PAGE || found.has(uid))) found.set(uid, factsOf(message));
    }
  });
  return new Map([...found].toSorted(([a], [b]) => a - b));
}

function factsOf({ uid, size, flags, internalDate, labels }: FetchMessageObject): RemoteFacts {
  const at = internalDate === undefined ? NaN : new Date(internalDate).getTime();
  return {
    uid,
    size: size ?? 0,
    flags: remoteFlags(flags ?? []),
    receivedAt: Number.isNaN(at) || at < 0 ? undefined : at,
    // Encoded as names of folders are. One more than are kept, so that the report can say that some are not.
    labels: labels && [...labels].slice(0, MAX_LABELS + 1).map((label) => fromUtf7(label.slice(0, MAX_LABEL))),
  };
}

/** The UIDs of a folder, ascending, as its pages bring them. */
export class UidList {
  #uids = new Uint32Array(PAGE);
  #length = 0;

  get size(): number {
    return this.#length;
  }

  /** Adds the UIDs of the next page. */
  add(page: RemotePage): void {
    if (this.#length + page.size > this.#uids.length) {
      const larger = new Uint32Array(2 * (this.#length + page.size));
      larger.set(this.#uids.subarray(0, this.#length));
      this.#uids = larger;
    }
    for (const uid of page.keys()) this.#uids[this.#length++] = uid;
  }

  has(uid: number): boolean {
    let low = 0;
    let high = this.#length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#uids[middle] ?? 0;
      if (found === uid) return true;
      if (found < uid) low = middle + 1;
      else high = middle - 1;
    }
    return false;
  }
}
