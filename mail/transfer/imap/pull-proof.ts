import { createHash } from 'node:crypto';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { MailStore } from '../../store/store.ts';
import type { PulledMessage } from '../../store/transfer/remote-folder.ts';
import { flagsFor, type RemoteFacts } from './pull-folder.ts';
import type { FolderProof, PullDifference } from './pull-types.ts';
import { flagText } from './remote-flags.ts';

const CHUNK = 1024 * 1024;
const HASH_HEX = 32;

/**
 * Compares a folder with what was pulled of it: each message there must be here with the same content, time and flags.
 * The content there is that which was received; the content here is read again from the store.
 */
export async function proveFolder(
  store: MailStore,
  names: { source: string; folder: string; isAllMail: boolean },
  there: ReadonlyMap<number, RemoteFacts>,
  pulled: ReadonlyMap<number, PulledMessage>,
  skipped: ReadonlyMap<number, string>,
): Promise<{ proof: FolderProof; differences: PullDifference[] }> {
  const differences: PullDifference[] = [];
  const hashes = { there: createHash('sha256'), here: createHash('sha256') };
  let here = 0;
  for (const facts of there.values()) {
    await yieldToEventLoop();
    const one = pulled.get(facts.uid);
    const flags = flagText(flagsFor(facts, names.isAllMail));
    const time = facts.receivedAt ?? one?.here?.receivedAt ?? 0;
    hashes.there.update(`${facts.uid} ${one?.hash ?? ''} ${time} ${flags}\n`);
    const found = one?.here == null ? undefined : await stateHere(store, one);
    if (found !== undefined) {
      here++;
      hashes.here.update(`${facts.uid} ${found.hash} ${found.time} ${found.flags}\n`);
    }
    const problem = skipped.get(facts.uid) ?? difference({ hash: one?.hash, time, flags }, one, found);
    if (problem !== undefined) differences.push({ folder: names.source, uid: facts.uid, problem });
  }
  const [thereHash, hereHash] = [hashes.there.digest('hex'), hashes.here.digest('hex')];
  const { source, folder } = names;
  const equal = thereHash === hereHash && differences.length === 0;
  return { proof: { source, folder, there: there.size, here, thereHash, hereHash, equal }, differences };
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
  if (here === undefined) return 'It was deleted here after it was pulled';
  if (here.hash !== there.hash) return 'Its content is another one here';
  if (here.time !== there.time) return 'Its time is another one here';
  if (here.flags !== there.flags) return `Its flags are "${here.flags}" here and "${there.flags}" there`;
  return undefined;
}
