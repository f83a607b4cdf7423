import type { ImapFlow } from 'imapflow';
import { uidSet } from '../../imap/wire/encoder.ts';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { MailStore } from '../../store/store.ts';
import { MAX_ENTRIES, storeFlags } from '../../store/mailbox/entry-commands.ts';
import type { NamedFlags } from '../../store/mailbox/flags.ts';
import { type PulledMessage, pulledMessages, recordRemoteFlags } from '../../store/transfer/remote-folder.ts';
import { placeLabels } from '../gmail-labels.ts';
import type { ImportOutcome, Importer } from '../importer.ts';
import { removeDeleted } from './pull-deletions.ts';
import type { PullOptions } from './pull-types.ts';
import { flagText } from './remote-flags.ts';
import type { RemoteFolder } from './remote-folders.ts';
import { PAGE, type RemoteFacts, type RemotePage, remotePages, UidList, withoutElsewhere } from './remote-pages.ts';

/** Messages and octets of one FETCH. */
const MAX_FETCHED = 500;
const MAX_FETCHED_OCTETS = 8 * 1024 * 1024;
/** Context of the pull of one folder. */
export interface FolderPull {
  store: MailStore;
  account: number;
  client: ImapFlow;
  folder: RemoteFolder;
  /** Row of the folder, with its UIDVALIDITY. */
  row: number;
  options: PullOptions;
  importer: Importer;
  /** UIDs whose FETCH ended the connection before. */
  suspects: ReadonlyMap<number, number>;
  /** Mailbox here for a message; undefined: there are too many folders. */
  mailboxFor(facts: RemoteFacts): Promise<{ id: number; name: string } | undefined>;
  onOutcome: (folder: string, uid: number, outcome: ImportOutcome, size: number) => void;
  onProblem: (uid: number, problem: string) => void;
  /** Called for a message that was imported without a part of it. */
  onNote: (uid: number, note: string) => void;
  /** Called before a message is read, so that a lost connection names a suspect. */
  onFetch(left: ReadonlyMap<number, unknown>): void;
  /** Called for each page of facts that was read. */
  onPage(): void;
  /** Waits as the pace asks. */
  pace(): Promise<void>;
  stop: AbortSignal;
}

/** Messages of a page that were pulled before, by UID. */
export async function pulledAmong(
  store: MailStore,
  { account, row }: { account: number; row: number },
  page: RemotePage,
): Promise<Map<number, PulledMessage>> {
  const found = new Map<number, PulledMessage>();
  const uids = [...page.keys()];
  const last = uids.at(-1) ?? 0;
  for (let after = (uids[0] ?? 1) - 1; after < last;) {
    const pulled = await store.read(pulledMessages, { account, folder: row, after, limit: PAGE });
    for (const one of pulled) if (page.has(one.uid)) found.set(one.uid, one);
    after = pulled.at(-1)?.uid ?? last;
  }
  return found;
}

/** Pulls what is new in the open folder, and the flags and deletions since the last pass. */
export async function pullFolder(pull: FolderPull): Promise<void> {
  const { store, client, folder, options, stop } = pull;
  const there = new UidList();
  for await (const all of remotePages(client, folder.isAllMail)) {
    pull.onPage();
    // Also those that come from the folders of their labels: one that was pulled from here earlier is not deleted there.
    there.add(all);
    const page = withoutElsewhere(all, folder);
    const before = await pulledAmong(store, pull, page);
    await updateFlags(pull, page, before);
    const fresh = [...page.values()].filter(({ uid }) => !before.has(uid));
    for (const group of groupsOf(fresh, pull)) {
      stop.throwIfAborted();
      await pullGroup(pull, group);
    }
  }
  if (options.deletions) await removeDeleted(pull, there);
}

/** Groups messages for one FETCH each. A suspect is alone, so that it delays no other. */
function* groupsOf(
  all: readonly RemoteFacts[],
  { options, suspects, onProblem }: FolderPull,
): Generator<RemoteFacts[]> {
  let group: RemoteFacts[] = [];
  let octets = 0;
  for (const one of all) {
    if (one.size > options.maxOctets) {
      onProblem(one.uid, 'It is larger than MAILSTEAD_MAX_MESSAGE_BYTES: raise it, then import again');
      continue;
    }
    const lost = suspects.get(one.uid) ?? 0;
    if (lost >= MAX_LOST) {
      onProblem(
        one.uid,
        `The connection was lost ${MAX_LOST} times when it was read: import again, or look at its size there`,
      );
      continue;
    }
    const isFull = group.length >= MAX_FETCHED || octets + one.size > MAX_FETCHED_OCTETS || lost > 0;
    if (group.length > 0 && isFull) {
      yield group;
      [group, octets] = [[], 0];
    }
    group.push(one);
    octets += one.size;
    if (lost > 0) {
      yield group;
      [group, octets] = [[], 0];
    }
  }
  if (group.length > 0) yield group;
}

/** Lost connections after which a message is left out: more than a poor line loses in a row at one message. */
export const MAX_LOST = 5;

async function pullGroup(pull: FolderPull, group: readonly RemoteFacts[]): Promise<void> {
  const { client, folder, row, importer } = pull;
  const facts = new Map(group.map((one) => [one.uid, one]));
  // The rest of the group, from which each message is removed once it is read.
  pull.onFetch(facts);
  for await (const { uid, source } of client.fetch(
    uidSet([...facts.keys()]),
    { uid: true, source: true },
    { uid: true },
  )) {
    pull.stop.throwIfAborted();
    const one = facts.get(uid);
    if (one === undefined || source === undefined) continue;
    facts.delete(uid);
    await pull.pace();
    const target = await pull.mailboxFor(one);
    if (target === undefined) {
      pull.onProblem(uid, 'The mailbox has as many folders as it can: delete some, then import again');
      continue;
    }
    const flags = flagsFor(one, folder.isAllMail);
    const remote = { folder: row, uid, flags: flagText(flags) };
    const message = { mailbox: target.id, flags, receivedAt: one.receivedAt, octets: once(source), remote };
    await importer.add(message, (outcome, _hash, size) => {
      pull.onOutcome(target.name, uid, outcome, size);
      const note = outcome.kind === 'imported' ? noteOf(one, folder.isAllMail) : undefined;
      if (note !== undefined) pull.onNote(uid, note);
    });
  }
  pull.onFetch(new Map());
}

async function* once(octets: Buffer): AsyncGenerator<Buffer> {
  yield octets;
}

/** Flags of a message: those of the server, and Gmail's labels as keywords. */
export function flagsFor({ flags, labels }: RemoteFacts, isAllMail: boolean): NamedFlags {
  if (!isAllMail || labels === undefined) return flags;
  const { keywords } = placeLabels(labels).flags;
  return { bits: flags.bits, keywords: [...new Set([...flags.keywords, ...keywords])] };
}

function noteOf({ labels }: RemoteFacts, isAllMail: boolean): string | undefined {
  return isAllMail && labels !== undefined ? placeLabels(labels).note : undefined;
}

/** Flags of a message that changed there since the last pass. */
interface FlagUpdate {
  one: PulledMessage;
  flags: NamedFlags;
}

/** Applies flags that changed there since the last pass; what a person changed here and not there stays. */
async function updateFlags(
  { store, account, folder, row }: FolderPull,
  there: ReadonlyMap<number, RemoteFacts>,
  before: ReadonlyMap<number, PulledMessage>,
): Promise<void> {
  const changed: FlagUpdate[] = [];
  for (const one of before.values()) {
    await yieldToEventLoop();
    const facts = there.get(one.uid);
    const flags = facts && flagsFor(facts, folder.isAllMail);
    if (flags !== undefined && flagText(flags) !== one.flags) changed.push({ one, flags });
  }
  // A page has messages of few folders and few sets of flags: all of one set are one command, not one for each message.
  for (const group of Map.groupBy(changed, groupOf).values()) {
    for (let at = 0; at < group.length; at += MAX_ENTRIES) {
      const slice = group.slice(at, at + MAX_ENTRIES);
      // Flags that could not be applied are tried again by the next pass, and the proof lists them.
      if (!(await applyFlags(store, account, slice))) continue;
      const changes = slice.map(({ one, flags }) => ({ uid: one.uid, flags: flagText(flags) }));
      await store.writeSlice(recordRemoteFlags, { folder: row, changes });
    }
  }
}

/** Equal for messages of one mailbox here that get the same flags. */
const groupOf = ({ one, flags }: FlagUpdate): string => `${one.here?.mailbox ?? ''} ${flagText(flags)}`;

/** Gives messages of one mailbox the same flags; those that are in no mailbox here have nothing to change. */
async function applyFlags(store: MailStore, account: number, slice: readonly FlagUpdate[]): Promise<boolean> {
  const here = slice.flatMap(({ one }) => one.here ?? []);
  const [first] = here;
  if (first === undefined) return true;
  const { kind } = await store.writeSlice(storeFlags, {
    account,
    mailbox: first.mailbox,
    uids: here.map(({ uid }) => uid),
    how: 'replace',
    flags: slice[0]?.flags ?? { bits: 0, keywords: [] },
    unchangedSince: null,
  });
  return kind === 'done';
}
