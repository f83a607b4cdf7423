import { createHash } from 'node:crypto';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { MailStore } from '../../store/store.ts';
import type { PulledMessage } from '../../store/transfer/remote-folder.ts';
import { flagsFor } from './pull-folder.ts';
import type { FolderProof, PullDifference } from './pull-types.ts';
import { flagText } from './remote-flags.ts';
import type { RemotePage } from './remote-pages.ts';

const CHUNK = 1024 * 1024;
const HASH_HEX = 32;

/** Messages of a folder there, with those of them that were pulled. */
interface ProvenPage {
  there: RemotePage;
  pulled: ReadonlyMap<number, PulledMessage>;
}

/** Messages with what is said of each: the first of them, and the number of all. */
export class DifferenceList {
  readonly listed: PullDifference[] = [];
  count = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(one: PullDifference): void {
    this.count++;
    if (this.listed.length < this.#most) this.listed.push(one);
  }

  /** Adds those of a list with the same limit. */
  addAll({ listed, count }: DifferenceList): void {
    this.count += count;
    this.listed.push(...listed.slice(0, this.#most - this.listed.length));
  }

  /** Number of those that are not listed. */
  get more(): number {
    return this.count - this.listed.length;
  }
}

/** The comparison of one folder. */
export interface FolderComparison {
  proof: FolderProof;
  differences: DifferenceList;
  changedHere: DifferenceList;
}

/**
 * Compares a folder with what was pulled of it: each message there must be here with the same content, time and flags.
 * The content there is that which was received; the content here is read again from the store. A message that was
 * deleted here, or whose flags were changed here and not there, is no difference: people work during a migration. `most`:
 * messages that each list names.
 */
export async function proveFolder(
  store: MailStore,
  names: { source: string; folder: string; isAllMail: boolean },
  pages: AsyncIterable<ProvenPage>,
  skipped: ReadonlyMap<number, string>,
  most: number,
): Promise<FolderComparison> {
  const { source, folder, isAllMail } = names;
  const hashes = { there: createHash('sha256'), here: createHash('sha256') };
  const lists = { differences: new DifferenceList(most), changedHere: new DifferenceList(most) };
  const counts = { there: 0, here: 0 };
  for await (const { there, pulled } of pages) {
    for (const facts of there.values()) {
      await yieldToEventLoop();
      const { uid } = facts;
      const one = pulled.get(uid);
      const flags = flagText(flagsFor(facts, isAllMail));
      const time = facts.receivedAt ?? one?.here?.receivedAt ?? 0;
      const found = one?.here == null ? undefined : await stateHere(store, one);
      counts.there++;
      if (found !== undefined) counts.here++;
      const problem = skipped.get(uid);
      const change = problem === undefined ? changeHere({ time, flags }, one, found) : undefined;
      if (change !== undefined) lists.changedHere.add({ folder: source, uid, problem: change });
      // Nothing is left to compare of a message that was deleted here.
      if (change !== undefined && found === undefined) continue;
      hashes.there.update(`${uid} ${one?.hash ?? ''} ${time} ${flags}\n`);
      if (found !== undefined) {
        hashes.here.update(`${uid} ${found.hash} ${found.time} ${change === undefined ? found.flags : flags}\n`);
      }
      if (change !== undefined) continue;
      const different = problem ?? difference({ hash: one?.hash, time, flags }, one, found);
      if (different !== undefined) lists.differences.add({ folder: source, uid, problem: different });
    }
  }
  const [thereHash, hereHash] = [hashes.there.digest('hex'), hashes.here.digest('hex')];
  const equal = thereHash === hereHash && lists.differences.count === 0;
  const changedHere = lists.changedHere.count;
  return { proof: { source, folder, ...counts, changedHere, thereHash, hereHash, equal }, ...lists };
}

/** Describes a change here after the pull; undefined: there is none, or something else is wrong with the message. */
function changeHere(
  there: { time: number; flags: string },
  one: PulledMessage | undefined,
  here: MessageState | undefined,
): string | undefined {
  if (one === undefined) return undefined;
  if (here === undefined) return one.isDeletedHere ? 'It was deleted here' : undefined;
  // A message that nobody touched since it was stored was stored with wrong flags.
  const isOnlyHere = one.here?.isChanged === true && one.flags === there.flags;
  if (!isOnlyHere || here.flags === there.flags || here.hash !== one.hash || here.time !== there.time) return undefined;
  return flagsDiffer(here.flags, there.flags);
}

function flagsDiffer(here: string, there: string): string {
  return `Its flags are "${here}" here and "${there}" there`;
}

interface MessageState {
  hash: string;
  time: number;
  flags: string;
}

async function stateHere(store: MailStore, { here }: PulledMessage): Promise<MessageState | undefined> {
  if (here === null) return undefined;
  const hash = createHash('sha256');
  try {
    for (let at = 0; at < here.size; at += CHUNK) {
      hash.update(await store.blob(here.blob, at, Math.min(CHUNK, here.size - at)));
    }
  } catch (error) {
    return { hash: `unreadable: ${(error as Error).message}`, time: here.receivedAt, flags: flagText(here.flags) };
  }
  return { hash: hash.digest('hex').slice(0, HASH_HEX), time: here.receivedAt, flags: flagText(here.flags) };
}

function difference(
  there: { hash: string | undefined; time: number; flags: string },
  one: PulledMessage | undefined,
  here: MessageState | undefined,
): string | undefined {
  if (one === undefined) return 'It arrived there meanwhile: import again';
  if (here === undefined) return 'It is missing here without a record of its deletion: run mailstead fsck';
  if (here.hash !== there.hash) return 'Its content is another one here';
  if (here.time !== there.time) return 'Its time is another one here';
  if (here.flags !== there.flags) return flagsDiffer(here.flags, there.flags);
  return undefined;
}
