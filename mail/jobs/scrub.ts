import type { Log } from '../log.ts';
import { type BlobProblem, checkBlob, type CheckedBlob } from '../store/check/blob-check.ts';
import { damagedMessages } from '../store/check/damaged-messages.ts';
import { BlobUnreadable, isUnreadable } from '../store/blob/unreadable.ts';
import { command, lookup, query, type Row, StoreBusy } from '../store/engine/types.ts';
import type { MailStore } from '../store/store.ts';
import type { Job } from './scheduler.ts';

/** Blobs and octets of one run. With a run each minute, 144,000 blobs or 11 GB a day. */
const MAX_BLOBS = 100;
const MAX_OCTETS = 8 * 1024 * 1024;
const MINUTE_MS = 60_000;
/** From the begin of a round to the next one, at least. */
const ROUND_MS = 7 * 24 * 3_600_000;

interface ScrubRow extends Row {
  after_blob: number;
  began_at: number;
  ended_at: number | null;
}

/** Position of the round; undefined: the first one has not begun. */
export const scrubPosition = lookup('scrub-position', (rx) =>
  rx.get<ScrubRow>('SELECT after_blob, began_at, ended_at FROM scrub WHERE id = 1'),
);

/** Ids and sizes of the next blobs. */
export const nextBlobs = lookup('next-blobs', (rx, input: { after: number }) =>
  rx.all<{ id: number; size: number }>(
    `SELECT id, size FROM blob WHERE id > ? ORDER BY id LIMIT ${MAX_BLOBS}`,
    input.after,
  ),
);

/** A blob with its hash; undefined: it was purged. */
export const blobToCheck = lookup('blob-to-check', (rx, input: { blob: number }) =>
  rx.get<Row & CheckedBlob>('SELECT size, file, data, sha256 FROM blob WHERE id = ?', input.blob),
);

/** Messages that a damaged blob belongs to, as their owners know them. */
export const messagesOfBlob = query('messages-of-blob', (rx, input: { blob: number; problem: BlobProblem }) =>
  damagedMessages(rx, input.blob, input.problem),
);

interface ScrubStep {
  beganAt: number;
  /** Last blob that was checked; 0 with `ended`. */
  after: number;
  ended: boolean;
  checked: readonly number[];
  damaged: readonly { blob: number; problem: BlobProblem }[];
}

/** Stores the position of the round, and its findings. A blob that is whole again is no longer listed. */
export const recordScrub = command('record-scrub', async (tx, input: ScrubStep, stamp): Promise<void> => {
  await tx.run(
    `INSERT INTO scrub (id, after_blob, began_at, ended_at) VALUES (1, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET after_blob = excluded.after_blob, began_at = excluded.began_at,
       ended_at = coalesce(excluded.ended_at, scrub.ended_at)`,
    input.after,
    input.beganAt,
    input.ended ? stamp.now : null,
  );
  await tx.run(
    'DELETE FROM damaged_blob WHERE blob_id IN (SELECT value FROM json_each(?))',
    JSON.stringify(input.checked.filter((id) => !input.damaged.some(({ blob }) => blob === id))),
  );
  for (const { blob, problem } of input.damaged) {
    await tx.run(
      `INSERT INTO damaged_blob (blob_id, problem, found_at) VALUES (?, ?, ?)
       ON CONFLICT (blob_id) DO UPDATE SET problem = excluded.problem`,
      blob,
      problem,
      stamp.now,
    );
  }
});

/** Compares all stored messages with their hashes, in slow rounds of a week or more. Damage is logged by name. */
export class ScrubJob implements Job {
  readonly name = 'scrub';
  readonly everyMs = MINUTE_MS;
  readonly #store: MailStore;
  readonly #clock: () => number;
  readonly #log: Log;

  constructor(store: MailStore, clock: () => number, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  async run(stop?: AbortSignal): Promise<void> {
    const now = this.#clock();
    const at = await this.#store.read(scrubPosition, undefined);
    const resting = at === undefined || at.after_blob === 0;
    // A clock that was set back ends the rest.
    if (at !== undefined && resting && now >= at.began_at && now - at.began_at < ROUND_MS) return;
    const blobs = await this.#store.read(nextBlobs, { after: at?.after_blob ?? 0 });
    if (resting && blobs.length === 0) return;
    await this.#check(blobs, resting ? now : at.began_at, stop);
  }

  async #check(
    blobs: readonly { id: number; size: number }[],
    beganAt: number,
    stop: AbortSignal | undefined,
  ): Promise<void> {
    const checked: number[] = [];
    const damaged: { blob: number; problem: BlobProblem }[] = [];
    let octets = 0;
    for (const { id, size } of blobs) {
      if (stop?.aborted === true || octets > MAX_OCTETS) break;
      const problem = await this.#problem(id).catch(untilBucketAnswers);
      if (problem === 'later') break;
      if (problem !== undefined) damaged.push({ blob: id, problem });
      checked.push(id);
      octets += size;
    }
    for (const { blob, problem } of damaged) await this.#report(blob, problem);
    const ended = checked.length === blobs.length && blobs.length < MAX_BLOBS;
    const after = ended ? 0 : (checked.at(-1) ?? 0);
    if (checked.length > 0 || ended) {
      await this.#store.writeSlice(recordScrub, { beganAt, after, ended, checked, damaged });
    }
  }

  async #problem(id: number): Promise<BlobProblem | undefined> {
    try {
      const blob = await this.#store.read(blobToCheck, { blob: id });
      if (blob === undefined) return undefined;
      const problem = await this.#checkOne(blob);
      // A message that was purged meanwhile has neither a file nor a row.
      const there = problem !== undefined && (await this.#store.read(blobToCheck, { blob: id })) !== undefined;
      return there ? problem : undefined;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return 'unreadable';
    }
  }

  /** Reads a message, or asks a bucket only for its size: what is transferred is paid for, and fsck reads it. */
  async #checkOne(blob: CheckedBlob): Promise<BlobProblem | undefined> {
    const { files } = this.#store;
    if (blob.file === null || !(await files.isRemote(blob.file))) {
      return checkBlob((file, run) => run(files.path(file)), blob);
    }
    const size = await files.remote?.size(blob.file);
    if (size === undefined) return 'missing';
    return size < blob.size ? 'short' : undefined;
  }

  async #report(blob: number, problem: BlobProblem): Promise<void> {
    this.#store.reportUnreadable(blob, new BlobUnreadable(blob, problem));
    for (const { address, folder, uid, receivedAt } of await this.#store.read(messagesOfBlob, { blob, problem })) {
      const received = new Date(receivedAt).toISOString();
      this.#log.error({ address, folder, uid, received, problem }, 'stored message is damaged: run mailstead fsck');
    }
  }
}

/** A bucket that does not answer ends the run; the next one goes on with the same message. */
function untilBucketAnswers(error: unknown): 'later' {
  if (error instanceof StoreBusy) return 'later';
  throw error;
}
