import { no, ok } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/** Messages of the smallest batch. RFC 10022 3: servers support 500. */
const MIN_BATCH = 500;
/** Messages of all batches that one command names. RFC 10022 3: at least 100,000. */
const MAX_MESSAGES = 1_000_000;

interface BatchRequest {
  size: number;
  /** Numbers of the wanted batches from 1, the newest messages first. */
  range: { from: number; to: number } | undefined;
}

/** UIDBATCHES: ranges of UIDs with so many messages each. RFC 10022. */
export const uidBatches: ImapCommand<BatchRequest> = {
  name: 'UIDBATCHES',
  states: SELECTED,
  capabilities: ['UIDBATCHES'],

  parse(d) {
    const size = d.sp().nzNumber();
    if (d.trailing()) return { size, range: undefined };
    const from = d.sp().nzNumber();
    const to = d.expect(':').nzNumber();
    if (to < from) throw new ImapSyntaxError('Invalid range of batches');
    return { size, range: { from, to } };
  },

  run(session, { size, range }, { tag }) {
    if (size < MIN_BATCH) return no('TOOFEW', `A batch has at least ${MIN_BATCH} messages`);
    if (range !== undefined && (range.to - range.from + 1) * size > MAX_MESSAGES)
      return no('TOOMANY', `Ask for at most ${MAX_MESSAGES} messages at once`);
    const { uids, length } = session.view;
    const batches = uidRanges(uids, length, size);
    const wanted = range === undefined ? batches : batches.slice(range.from - 1, range.to);
    session.write(`* UIDBATCHES (TAG "${tag}")${wanted.length === 0 ? '' : ` ${wanted.join(',')}`}\r\n`);
    return ok('Batches');
  },
};

/** Ranges `high:low` from the newest message to UID 1, without gaps. */
export function uidRanges(uids: Uint32Array, length: number, size: number): string[] {
  const ranges: string[] = [];
  for (let end = length; end > 0; end -= size) {
    const below = end - size;
    const low = below > 0 ? (uids[below - 1] ?? 0) + 1 : 1;
    ranges.push(`${uids[end - 1]}:${low}`);
  }
  return ranges;
}
