import type { FetchMessageObject, ImapFlow } from 'imapflow';
import { uidSet } from '../../imap/wire/encoder.ts';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { MailStore } from '../../store/store.ts';
import { expunge, MAX_ENTRIES, storeFlags } from '../../store/mailbox/entry-commands.ts';
import { DELETED, type NamedFlags } from '../../store/mailbox/flags.ts';
import {
  dropRemoteMessages,
  type PulledMessage,
  pulledMessages,
  recordRemoteFlags,
} from '../../store/transfer/remote-folder.ts';
import { placeByLabels } from '../gmail-labels.ts';
import type { ImportOutcome, Importer } from '../importer.ts';
import type { PullOptions } from './pull-types.ts';
import { flagText, remoteFlags } from './remote-flags.ts';
import type { RemoteFolder } from './remote-folders.ts';
import { withOctetLimit } from './remote-session.ts';

/** Messages and octets of one FETCH. */
const MAX_FETCHED = 500;
const MAX_FETCHED_OCTETS = 8 * 1024 * 1024;
/** UIDs of a folder, and octets of the list of them: it is in memory. */
const MAX_UIDS = 1_000_000;
const MAX_LIST_OCTETS = 256 * 1024 * 1024;
const MAX_LABELS = 60;
const MAX_LABEL = 256;
const PAGE = 1_000;

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
  /** Called before a message is read, so that a lost connection names a suspect. */
  onFetch(left: ReadonlyMap<number, unknown>): void;
  /** Waits as the pace asks. */
  pace(): Promise<void>;
  stop: AbortSignal;
}

/** Metadata of all messages of the open folder, ascending by UID. */
export function remoteFacts(client: ImapFlow, isGmail: boolean): Promise<Map<number, RemoteFacts>> {
  return withOctetLimit(client, MAX_LIST_OCTETS, () => fetchFacts(client, isGmail));
}

async function fetchFacts(client: ImapFlow, isGmail: boolean): Promise<Map<number, RemoteFacts>> {
  const found = new Map<number, RemoteFacts>();
  if (client.mailbox === false || client.mailbox.exists === 0) return found;
  const wanted = { uid: true, flags: true, size: true, internalDate: true, labels: isGmail } as const;
  for await (const message of client.fetch('1:*', wanted)) {
    if (found.size >= MAX_UIDS) throw new Error(`The folder has more than ${MAX_UIDS} messages`);
    if (!Number.isInteger(message.uid) || message.uid < 1 || message.uid > 0xffffffff) continue;
    found.set(message.uid, factsOf(message));
  }
  return new Map([...found].toSorted(([a], [b]) => a - b));
}

function factsOf({ uid, size, flags, internalDate, labels }: FetchMessageObject): RemoteFacts {
  const at = internalDate === undefined ? NaN : new Date(internalDate).getTime();
  return {
    uid,
    size: size ?? 0,
    flags: remoteFlags(flags ?? []),
    receivedAt: Number.isNaN(at) || at < 0 ? undefined : at,
    labels: labels && [...labels].slice(0, MAX_LABELS).map((label) => label.slice(0, MAX_LABEL)),
  };
}

/** Messages of a folder that were pulled before, by UID. */
export async function pulledBefore(
  store: MailStore,
  account: number,
  row: number,
): Promise<Map<number, PulledMessage>> {
  const found = new Map<number, PulledMessage>();
  for (let after = 0; ;) {
    const page = await store.read(pulledMessages, { account, folder: row, after, limit: PAGE });
    for (const one of page) found.set(one.uid, one);
    const last = page.at(-1);
    if (last === undefined) return found;
    after = last.uid;
  }
}

/** Pulls what is new in the open folder, and the flags and deletions since the last pass. */
export async function pullFolder(pull: FolderPull): Promise<void> {
  const { store, account, client, folder, row, options } = pull;
  const there = await remoteFacts(client, folder.isAllMail);
  const before = await pulledBefore(store, account, row);
  await updateFlags(pull, there, before);
  if (options.deletions) await removeDeleted(pull, there, before);
  const fresh = [...there.values()].filter(({ uid }) => !before.has(uid));
  for (const group of groupsOf(fresh, pull)) {
    pull.stop.throwIfAborted();
    await pullGroup(pull, group);
  }
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
      onProblem(one.uid, 'The other server ends the connection when it is read: its size may be wrong there');
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

/** Lost connections after which a message is left out. */
export const MAX_LOST = 3;

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
    await importer.add(message, (outcome, _hash, size) => pull.onOutcome(target.name, uid, outcome, size));
  }
  pull.onFetch(new Map());
}

async function* once(octets: Buffer): AsyncGenerator<Buffer> {
  yield octets;
}

/** Flags of a message: those of the server, and Gmail's labels as keywords. */
export function flagsFor({ flags, labels }: RemoteFacts, isAllMail: boolean): NamedFlags {
  if (!isAllMail || labels === undefined) return flags;
  const { keywords } = placeByLabels(labels.map((label) => `"${label.replaceAll('"', '')}"`).join(',')).flags;
  return { bits: flags.bits, keywords: [...new Set([...flags.keywords, ...keywords])] };
}

/** Applies flags that changed there since the last pass; what a person changed here and not there stays. */
async function updateFlags(
  { store, account, folder, row }: FolderPull,
  there: ReadonlyMap<number, RemoteFacts>,
  before: ReadonlyMap<number, PulledMessage>,
): Promise<void> {
  const changed: { one: PulledMessage; flags: NamedFlags }[] = [];
  for (const one of before.values()) {
    await yieldToEventLoop();
    const facts = there.get(one.uid);
    const flags = facts && flagsFor(facts, folder.isAllMail);
    if (flags !== undefined && flagText(flags) !== one.flags) changed.push({ one, flags });
  }
  for (let at = 0; at < changed.length; at += MAX_ENTRIES) {
    const slice = changed.slice(at, at + MAX_ENTRIES);
    for (const { one, flags } of slice) {
      if (one.here === null) continue;
      const { mailbox, uid } = one.here;
      await store.writeSlice(storeFlags, {
        account,
        mailbox,
        uids: [uid],
        how: 'replace',
        flags,
        unchangedSince: null,
      });
    }
    const changes = slice.map(({ one, flags }) => ({ uid: one.uid, flags: flagText(flags) }));
    await store.writeSlice(recordRemoteFlags, { folder: row, changes });
  }
}

/** Expunges here what was deleted there: it can be restored as long as any deleted message. */
async function removeDeleted(
  { store, account, row }: FolderPull,
  there: ReadonlyMap<number, RemoteFacts>,
  before: ReadonlyMap<number, PulledMessage>,
): Promise<void> {
  const gone = [...before.values()].filter(({ uid }) => !there.has(uid));
  for (let at = 0; at < gone.length; at += MAX_ENTRIES) {
    const slice = gone.slice(at, at + MAX_ENTRIES);
    const here = Map.groupBy(
      slice.flatMap((one) => one.here ?? []),
      ({ mailbox }) => mailbox,
    );
    for (const [mailbox, entries] of here) {
      const uids = entries.map(({ uid }) => uid);
      const flags = { bits: DELETED, keywords: [] };
      await store.writeSlice(storeFlags, { account, mailbox, uids, how: 'add', flags, unchangedSince: null });
      await store.writeSlice(expunge, { account, mailbox, uids });
    }
    await store.writeSlice(dropRemoteMessages, { folder: row, uids: slice.map(({ uid }) => uid) });
  }
}
