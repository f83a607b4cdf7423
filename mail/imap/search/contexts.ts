import type { ImapStore } from '../imap-store.ts';
import type { AllowedUpdates, SelectedView } from '../selected-view.ts';
import { uidSet } from '../wire/encoder.ts';
import { runsOf } from '../wire/sequence-set.ts';
import { usesAge, usesFlags } from './matcher.ts';
import { type FoundMessages, octetsOfProgram, type SearchProgram } from './program.ts';
import type { SortKey } from './sort/sort-key.ts';

/** Searches that one session may follow; each is evaluated again after changes. */
const MAX_CONTEXTS = 10;
/** Octets of their programs and results together: sessions hold them until they end. */
const MAX_OCTETS = 1024 * 1024;

/** The part of a session that followed searches use. */
export interface FollowingSession {
  readonly selected: SelectedView | undefined;
  readonly connected: boolean;
  readonly store: Pick<ImapStore, 'onLabels'>;
  writeUnsolicited(text: string): void;
}

/** Searches the selected mailbox. */
export type ContextEvaluation = (
  program: SearchProgram,
  sort?: readonly SortKey[],
) => Promise<FoundMessages | { kind: 'too-long' }>;

/** A search with its result, to be followed. */
export interface FollowedSearch {
  readonly program: SearchProgram;
  readonly sort?: readonly SortKey[];
  readonly found: Uint32Array;
  readonly search: ContextEvaluation;
}

/** A search that the client follows: RETURN (UPDATE). RFC 5267 4.3. */
interface SearchContext {
  readonly tag: string;
  readonly uid: boolean;
  readonly program: SearchProgram;
  readonly programOctets: number;
  readonly sort: readonly SortKey[] | undefined;
  readonly search: ContextEvaluation;
  /** UIDs as the client has them, ascending or in the order of SORT. */
  result: Uint32Array;
  /** Mod-sequence and last UID up to which they are right. */
  modseq: number;
  lastUid: number;
}

/** Positions and UIDs that join or leave a result. */
type ContextChange = readonly [position: number, uids: readonly number[]];

/** The followed searches of one session; SELECT and CLOSE end them. */
export class SearchContexts {
  readonly #contexts = new Map<string, SearchContext>();
  /** Reports come one after the other, also those of IDLE. */
  #last: Promise<void> = Promise.resolve();

  get isEmpty(): boolean {
    return this.#contexts.size === 0;
  }

  has(tag: string): boolean {
    return this.#contexts.has(tag);
  }

  /** Follows a search. Refuses by NOUPDATE beyond the limit, and where time alone changes a result. RFC 5267 4.3.2. */
  add(
    session: FollowingSession,
    { tag, uid }: { tag: string; uid: boolean },
    { program, sort, found, search }: FollowedSearch,
  ): void {
    const view = session.selected;
    if (view === undefined) return;
    const programOctets = octetsOfProgram(program);
    const isTooLarge = this.#octets + programOctets + found.byteLength > MAX_OCTETS;
    if (this.#contexts.size >= MAX_CONTEXTS || isTooLarge || usesAge(program)) {
      session.writeUnsolicited(noUpdate(tag));
      return;
    }
    const at = { modseq: view.shared.highestModseq, lastUid: lastUidOf(view) };
    this.#contexts.set(tag, { tag, uid, program, programOctets, sort, search, result: found, ...at });
  }

  get #octets(): number {
    const all = [...this.#contexts.values()];
    return all.reduce((sum, { programOctets, result }) => sum + programOctets + result.byteLength, 0);
  }

  /** CANCELUPDATE. False: there is no such search. */
  delete(tag: string): boolean {
    return this.#contexts.delete(tag);
  }

  clear(): void {
    this.#contexts.clear();
  }

  /** Writes the allowed updates of the view, and before and after them what left and joined the followed searches. */
  report(session: FollowingSession, allowed: AllowedUpdates): Promise<void> {
    const report = this.#last.then(() => this.#report(session, allowed));
    // A report that failed must not fail all after it: with NOTIFY the session goes on.
    this.#last = report.catch(() => undefined);
    return report;
  }

  async #report(session: FollowingSession, allowed: AllowedUpdates): Promise<void> {
    const view = session.selected;
    if (view === undefined || !session.connected) return;
    await view.noteLabels(session.store);
    if (session.selected !== view) return;
    const numbers = new Map<number, number>();
    if (!this.isEmpty && view.isStale) numberAll(view, numbers);
    const updates = view.takeUpdates(allowed);
    const tags = [...this.#contexts.keys()];
    let before = '';
    let after = '';
    for (const context of this.#contexts.values()) {
      const changes = await changesOf(view, context).catch(() => undefined);
      if (session.selected !== view) return;
      if (changes === undefined || this.#octets > MAX_OCTETS) {
        this.#contexts.delete(context.tag);
        after += noUpdate(context.tag);
        continue;
      }
      before += line(context, 'REMOVEFROM', changes.removed, (uid) => numbers.get(uid) ?? view.sequenceOf(uid));
      after += line(context, 'ADDTO', changes.added, (uid) => view.sequenceOf(uid));
    }
    try {
      await view.noteLabels(session.store);
    } catch (error) {
      // The view counts its updates as written: without them the client has other sequence numbers. Their keywords were noted.
      this.clear();
      session.writeUnsolicited(updates + tags.map(noUpdate).join(''));
      throw error;
    }
    session.writeUnsolicited(before + updates + after);
  }
}

function noUpdate(tag: string): string {
  return `* NO [NOUPDATE "${tag}"] Search results are not updated\r\n`;
}

/** Sequence numbers before EXPUNGE responses change them. */
function numberAll({ uids, length }: SelectedView, numbers: Map<number, number>): void {
  for (let at = 0; at < length; at++) numbers.set(uids[at] ?? 0, at + 1);
}

function lastUidOf({ uids, length }: SelectedView): number {
  return length === 0 ? 0 : (uids[length - 1] ?? 0);
}

/** Evaluates a search again for the messages that changed. Undefined: it took too long. */
async function changesOf(
  view: SelectedView,
  context: SearchContext,
): Promise<{ removed: ContextChange[]; added: ContextChange[] } | undefined> {
  const changed = changedUids(view, context);
  const gone = context.result.filter((uid) => view.sequenceOf(uid) === 0);
  Object.assign(context, { modseq: view.shared.highestModseq, lastUid: lastUidOf(view) });
  if (changed.length === 0 && gone.length === 0) return { removed: [], added: [] };
  const found = await context.search(within(changed, context.program));
  if (found.kind === 'too-long') return undefined;
  const matching = new Set(found.uids);
  const leaving = new Set([...gone, ...changed.filter((uid) => !matching.has(uid))]);
  const known = new Set(context.result);
  const removed = removals(context, leaving);
  const kept = context.result.filter((uid) => !leaving.has(uid));
  const joining = found.uids.filter((uid) => !known.has(uid));
  if (context.sort === undefined) {
    context.result = Uint32Array.from([...kept, ...joining]).sort();
    return { removed, added: joining.length === 0 ? [] : [[0, [...joining]]] };
  }
  return { removed, added: await insertions(context, kept, joining) };
}

/** Messages with changed flags, if flags matter, and new ones. */
function changedUids(view: SelectedView, { modseq, lastUid, program, result }: SearchContext): number[] {
  const uids = view.uids.subarray(0, view.length);
  const fresh = Array.from(uids.subarray(firstAfter(uids, lastUid)));
  if (!usesFlags(program) || view.shared.highestModseq === modseq) return fresh;
  const changes = view.shared.changesSince(modseq);
  // Without a record of the changes every message may have changed.
  if (changes === undefined) return Array.from(new Set([...uids, ...result]));
  const changed = new Set(changes.flatMap(({ flags }) => flags).filter((uid) => uid <= lastUid));
  return [...changed, ...fresh].sort((a, b) => a - b);
}

function firstAfter(uids: Uint32Array, uid: number): number {
  let at = uids.length;
  while (at > 0 && (uids[at - 1] ?? 0) > uid) at--;
  return at;
}

function within(uids: Iterable<number>, program: SearchProgram): SearchProgram {
  return { key: 'and', of: [{ key: 'uid', set: runsOf(uids) }, program] };
}

/** RFC 5267 4.3.4: position 0 stands for mailbox order; results of SORT are named from the last to the first. */
function removals({ sort, result }: SearchContext, leaving: ReadonlySet<number>): ContextChange[] {
  if (leaving.size === 0) return [];
  const gone: ContextChange[] = [];
  for (const [at, uid] of result.entries()) if (leaving.has(uid)) gone.push([at + 1, [uid]]);
  if (gone.length === 0) return [];
  return sort === undefined ? [[0, gone.flatMap(([, uids]) => uids)]] : gone.reverse();
}

/** Sorts the result with its new messages, and names their positions in ascending order. */
async function insertions(context: SearchContext, kept: Uint32Array, joining: Uint32Array): Promise<ContextChange[]> {
  if (joining.length === 0) {
    context.result = kept;
    return [];
  }
  const all = Uint32Array.from([...kept, ...joining]).sort();
  const sorted = await context.search(within(all, { key: 'all' }), context.sort);
  if (sorted.kind === 'too-long') throw new Error('sorting took too long');
  context.result = sorted.uids;
  const fresh = new Set(joining);
  return Array.from(sorted.uids, (uid, i): ContextChange => [i + 1, [uid]]).filter(([, [uid = 0]]) => fresh.has(uid));
}

function line(
  { tag, uid }: SearchContext,
  name: 'ADDTO' | 'REMOVEFROM',
  changes: readonly ContextChange[],
  numberOf: (uid: number) => number,
): string {
  if (changes.length === 0) return '';
  const pairs = changes.map(([position, uids]) => `${position} ${uidSet(uid ? uids : uids.map(numberOf))}`);
  return `* ESEARCH (TAG "${tag}")${uid ? ' UID' : ''} ${name} (${pairs.join(' ')})\r\n`;
}
