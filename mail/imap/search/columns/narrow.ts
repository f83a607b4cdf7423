import type { Candidates } from '../candidates.ts';
import { usesFlags } from '../matcher.ts';
import type { SearchProgram } from '../program.ts';
import type { ColumnSource } from './column-source.ts';
import { decide } from './decide.ts';
import { ColumnsTooLong, type MailboxColumns } from './mailbox-columns.ts';
import { PositionSet } from './position-set.ts';

/** Candidates that are decided one by one rather than by columns that must be read first. */
const FEW = 100;

export interface NarrowContext {
  columns: MailboxColumns;
  source: ColumnSource;
  now: number;
  isLate: () => boolean;
}

/** Messages that match, and those that only their octets decide. */
export interface Narrowed {
  found: Uint32Array;
  open: Candidates;
}

/** Decides what the columns of the mailbox can. Throws {@link ColumnsTooLong} when its time is over. */
export async function narrow(program: SearchProgram, all: Candidates, context: NarrowContext): Promise<Narrowed> {
  const { columns, source, now, isLate } = context;
  if (columns.length === 0 && all.uids.length <= FEW) return { found: new Uint32Array(), open: all };
  const check = checkOf(isLate);
  await columns.refresh(source, check);
  const { positions, indexes } = positionsOf(all.uids, columns);
  const candidates = indexes === undefined ? all : pickCandidates(all, indexes);
  const scope = new PositionSet(columns.length);
  if (positions.length === columns.length) scope.addRange(0, columns.length);
  else for (const place of positions) scope.add(place);
  const { yes, no } = await decide(program, scope, {
    columns,
    positions,
    candidates: usesFlags(program) ? candidates : { ...candidates, system: new Uint8Array(), keywords: [] },
    now,
    loadHeaders: () => columns.loadHeaders(source, check),
    pause: () => source.pause?.(),
  });
  const matches = yes.toArray();
  const found = matches.map((position) => columns.uids[position] ?? 0);
  const rest = scope.minus(yes).minus(no);
  if (rest.isEmpty) return { found, open: pickCandidates(candidates, []) };
  const open: number[] = [];
  positions.forEach((place, i) => {
    if (rest.has(place)) open.push(i);
  });
  return { found, open: pickCandidates(candidates, open) };
}

/** Throws when the time of a search is over. */
export function checkOf(isLate: () => boolean): () => void {
  return () => {
    if (isLate()) throw new ColumnsTooLong();
  };
}

/** Positions of UIDs in the columns; `indexes`: of those that exist, if not all do. Both lists ascend. */
export function positionsOf(
  uids: Uint32Array,
  { uids: known, length }: MailboxColumns,
): { positions: Uint32Array; indexes: number[] | undefined } {
  const positions = new Uint32Array(uids.length);
  const indexes: number[] = [];
  let count = 0;
  let at = 0;
  for (let i = 0; i < uids.length; i++) {
    const uid = uids[i]!;
    while (at < length && known[at]! < uid) at++;
    if (at === length) break;
    if (known[at] !== uid) continue;
    positions[count++] = at;
    indexes.push(i);
  }
  return count === uids.length
    ? { positions, indexes: undefined }
    : { positions: positions.subarray(0, count), indexes };
}

/** Some candidates with their flags, by index. */
function pickCandidates({ uids, system, keywords, words }: Candidates, indexes: readonly number[]): Candidates {
  const width = Math.ceil(keywords.length / 8);
  const picked = new Uint8Array(indexes.length * width);
  indexes.forEach((index, i) => picked.set(words.subarray(index * width, (index + 1) * width), i * width));
  return {
    uids: Uint32Array.from(indexes, (index) => uids[index] ?? 0),
    system: Uint8Array.from(indexes, (index) => system[index] ?? 0),
    keywords,
    words: picked,
  };
}
