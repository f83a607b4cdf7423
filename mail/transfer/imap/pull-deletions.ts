import { expunge, MAX_ENTRIES, storeFlags } from '../../store/mailbox/entry-commands.ts';
import { DELETED } from '../../store/mailbox/flags.ts';
import type { MailStore } from '../../store/store.ts';
import {
  dropRemoteMessages,
  type MessageHere,
  type PulledMessage,
  pulledMessages,
} from '../../store/transfer/remote-folder.ts';
import type { UidList } from './remote-pages.ts';

/** Context of the deletions of one folder. */
interface DeletionPull {
  store: MailStore;
  account: number;
  /** Row of the folder, with its UIDVALIDITY. */
  row: number;
  onProblem: (uid: number, problem: string) => void;
  stop: AbortSignal;
}

/** A message that was deleted there, and is here. */
interface DeletedThere {
  /** UID there. */
  uid: number;
  here: MessageHere;
}

/** Expunges here what was deleted there: it can be restored as long as any deleted message. */
export async function removeDeleted(pull: DeletionPull, there: UidList): Promise<void> {
  const { store, account, row, stop } = pull;
  for (let after = 0; ;) {
    const pulled = await store.read(pulledMessages, { account, folder: row, after, limit: MAX_ENTRIES });
    const last = pulled.at(-1);
    if (last === undefined) return;
    after = last.uid;
    stop.throwIfAborted();
    const gone = pulled.filter(({ uid }) => !there.has(uid));
    if (gone.length > 0) await removeHere(pull, gone);
  }
}

/** Expunges messages. Those that stay keep their row: without it no later pull would delete them. */
async function removeHere(pull: DeletionPull, gone: readonly PulledMessage[]): Promise<void> {
  const present = gone.flatMap(({ uid, here }) => (here === null ? [] : [{ uid, here }]));
  const staying = new Set<number>();
  for (const [mailbox, some] of Map.groupBy(present, ({ here }) => here.mailbox)) {
    for (const uid of await expungeHere(pull, mailbox, some)) staying.add(uid);
  }
  const uids = gone.map(({ uid }) => uid).filter((uid) => !staying.has(uid));
  await pull.store.writeSlice(dropRemoteMessages, { folder: pull.row, uids });
}

/** Expunges messages of one mailbox here. Returns the UIDs there of those that stay. */
async function expungeHere(pull: DeletionPull, mailbox: number, some: readonly DeletedThere[]): Promise<number[]> {
  const { store, account, onProblem } = pull;
  const uids = some.map(({ here }) => here.uid);
  await markDeleted(pull, mailbox, uids, 'add');
  const { uids: removed, kept } = await store.writeSlice(expunge, { account, mailbox, uids });
  const isRemoved = new Set(removed);
  const staying = some.filter(({ here }) => !isRemoved.has(here.uid));
  if (staying.length === 0) return [];
  // With \Deleted the next EXPUNGE of any client would take them, and people would not see them.
  const unmarked = staying.filter(({ here }) => (here.flags.bits & DELETED) === 0).map(({ here }) => here.uid);
  await markDeleted(pull, mailbox, unmarked, 'remove');
  const problem = `It was deleted there and stays here: ${kept ?? 'it was moved or deleted here meanwhile'}. Import again`;
  for (const { uid } of staying) onProblem(uid, problem);
  return staying.map(({ uid }) => uid);
}

/** Adds or removes \Deleted. A refusal is seen by EXPUNGE, which takes only what has it. */
async function markDeleted(
  { store, account }: DeletionPull,
  mailbox: number,
  uids: readonly number[],
  how: 'add' | 'remove',
): Promise<void> {
  const flags = { bits: DELETED, keywords: [] };
  await store.writeSlice(storeFlags, { account, mailbox, uids, how, flags, unchangedSince: null });
}
