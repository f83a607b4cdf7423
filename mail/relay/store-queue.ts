import { isStatus } from '../auth/authentication.ts';
import { resultsServer, withoutResultsOf } from '../auth/forged-results.ts';
import { parseAddress } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { indexMessage } from '../message/indexer.ts';
import { deliverTo } from '../delivery/deliver.ts';
import { ownReport } from '../delivery/own-report.ts';
import { watchFailed } from '../delivery/watch.ts';
import { type Outgoing, send } from '../delivery/submit.ts';
import { command, query, type Stamp, type Write } from '../store/engine/types.ts';
import { note } from '../store/journal.ts';
import {
  type AttemptEnd,
  beginAttempts,
  DELAY_TOLD,
  END_TOLD,
  endAttempt,
  markTold,
  UNSIGNED,
} from '../store/queue.ts';
import { type OutboundRoute, outboundRoutes } from '../store/outbound-route.ts';
import { type DueRow, dueRows, nextDue } from '../store/queue-look.ts';
import type { MailStore } from '../store/store.ts';
import { meansGone } from '../store/suppression.ts';
import { noteTlsResults } from '../store/tls-result.ts';
import type { AttemptResult, BounceMessage, Look, Queue, QueueItem } from './needs.ts';
import { LONGEST_WAIT } from './schedule.ts';
import { chooseWay } from './ways.ts';

const CHUNK = 64 * 1024;
const TOGETHER = 50;

/** A bounce ready to be sent in the transaction of what it reports. */
interface PreparedBounce {
  about: readonly number[];
  kind: BounceMessage['kind'];
  outgoing: Outgoing;
}

/** Results and the bounces that they cause, in one commit: no failure without its bounce, no bounce twice. */
export const finishAttempts = command(
  'finish-attempts',
  async (
    tx,
    input: { ends: readonly AttemptEnd[]; bounces: readonly PreparedBounce[]; fallbacks: readonly Fallback[] },
    stamp,
  ): Promise<void> => {
    const ended = new Set(input.ends.map((end) => end.id));
    for (const { about, kind, outgoing } of input.bounces) {
      // Rows may be gone or told of: cancelled meanwhile, this is the second run of the same result, or another slice
      // had the first of them.
      const row = await tx.get<{ trace: string; tenant: number; account_id: number | null; delay_told: number }>(
        `SELECT s.trace, s.tenant, s.account_id, q.delay_told FROM queue q JOIN submission s ON s.id = q.submission_id
         WHERE q.id IN (SELECT value FROM json_each(?)) ORDER BY q.delay_told, q.id LIMIT 1`,
        JSON.stringify(about.filter((id) => ended.has(id))),
      );
      if (row === undefined || row.delay_told >= (kind === 'delay' ? DELAY_TOLD : END_TOLD)) continue;
      const to = outgoing.here[0]?.to ?? outgoing.elsewhere[0]?.recipient;
      if (to !== undefined) await send(tx, outgoing, stamp);
      const detail =
        to === undefined ? { kind, because: 'its sender is not here any more' } : { kind, to, as: outgoing.trace };
      await note(tx, row.trace, 'bounced', row.account_id, detail, stamp, { tenant: row.tenant });
      if (kind === 'delay') await markTold(tx, about, DELAY_TOLD);
      else
        await markTold(
          tx,
          about.filter((id) => !ended.has(id)),
          END_TOLD,
        );
    }
    for (const fallback of input.fallbacks) await keepHere(tx, fallback, stamp);
    for (const end of input.ends) {
      if (end.outcome === 'failed' && meansGone(end.status)) await watchFailed(tx, end.id, stamp);
      await endAttempt(tx, end, stamp);
      await noteTlsResults(tx, end.tlsResults ?? [], stamp);
    }
  },
);

/** A forward that failed for good, and the mailbox that keeps no copy of what it forwards. */
interface Fallback {
  row: number;
  index: MessageIndex;
}

async function keepHere(tx: Write, { row: id, index }: Fallback, stamp: Stamp): Promise<void> {
  const row = await tx.get<{ account: number; blob: number; sender: string; trace: string; recipient: string }>(
    `SELECT q.fallback_account AS account, s.blob_id AS blob, s.sender, s.trace, q.recipient
     FROM queue q JOIN submission s ON s.id = q.submission_id JOIN account a ON a.id = q.fallback_account AND a.state <> 2
     WHERE q.id = ?`,
    id,
  );
  if (row === undefined || (await hasIt(tx, row))) return;
  const trace = Buffer.from(`X-Mailstead-Not-Forwarded: ${row.recipient}\r\n`).toString('latin1');
  const email = await deliverTo(tx, { account: row.account, to: row.recipient, trace }, row.blob, index, stamp);
  const told = { from: row.sender, to: row.recipient, ...(email !== undefined && { email }) };
  await note(tx, row.trace, 'kept', row.account, told, stamp, { messageId: index.messageId });
}

/** One copy is meant, however many destinations fail; also when it has been thrown away meanwhile. */
async function hasIt(tx: Write, row: { account: number; blob: number; trace: string }): Promise<boolean> {
  const there = await tx.get(
    `SELECT 1 AS there FROM email WHERE blob_id = ?1 AND account_id = ?2
     UNION ALL SELECT 1 FROM journal WHERE trace = ?3 AND event = 'kept' AND account_id = ?2 LIMIT 1`,
    row.blob,
    row.account,
    row.trace,
  );
  return there !== undefined;
}

/** Of these rows those with a mailbox to fall back to. */
const fallbackRows = query(
  'fallback-rows',
  (rx, input: { ids: readonly number[] }): Promise<{ id: number; blob: number; size: number }[]> =>
    rx.all<{ id: number; blob: number; size: number }>(
      `SELECT q.id, s.blob_id AS blob, b.size FROM queue q JOIN submission s ON s.id = q.submission_id
       JOIN blob b ON b.id = s.blob_id
       WHERE q.fallback_account IS NOT NULL AND q.id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(input.ids),
    ),
);

interface SubmissionBlob extends Record<string, number | string | Uint8Array | null> {
  blob: number;
  size: number;
  prefix: string;
  /** All of it where that is one chunk; null: it is to be read apart. */
  data: Uint8Array | null;
}

export const submissionBlob = query(
  'submission-blob',
  (rx, input: { id: number }): Promise<SubmissionBlob | undefined> =>
    rx.get<SubmissionBlob>(
      `SELECT s.blob_id AS blob, b.size, s.prefix, CASE WHEN b.file IS NULL AND b.size <= ${CHUNK} THEN b.data END AS data
       FROM submission s JOIN blob b ON b.id = s.blob_id WHERE s.id = ?`,
      input.id,
    ),
);

/** A look for each of many messages that come at once would cost more than all of them. */
const BURST_MS = 20;
/** Until a refused copy is looked at again that could not be read. */
const UNREADABLE_MS = 3_600_000;

export interface StoreQueueOptions {
  store: MailStore;
  /** Why bounces for elsewhere may not go out now; null lets them go. */
  hold: string | null;
  /** When the box's own smarthost is used; undefined: there is none. */
  smarthost?: 'always' | 'failover' | undefined;
  traceId(): string;
}

/** The relay's queue, kept by the store. */
export class StoreQueue implements Queue {
  readonly #options: StoreQueueOptions;
  readonly #listeners = new Set<() => void>();
  #toldAt = -Infinity;
  #telling: NodeJS.Timeout | undefined;

  constructor(options: StoreQueueOptions) {
    this.#options = options;
  }

  async due(look: Look): Promise<{ items: QueueItem[]; next: number | undefined }> {
    const { rows, next } = await this.#options.store.read(dueRows, { ...look, horizon: look.now + LONGEST_WAIT });
    const tenants = [...new Set(rows.map((row) => row.tenant))];
    const routes = tenants.length === 0 ? [] : await this.#options.store.read(outboundRoutes, { tenants });
    return { items: rows.map((row) => toItem(row, routes, this.#options.smarthost)), next };
  }

  nextDue(): Promise<number | undefined> {
    return this.#options.store.read(nextDue, undefined);
  }

  begin(items: readonly { id: number; nextAt: number }[]): Promise<number[]> {
    return this.#options.store.write(beginAttempts, { items });
  }

  async finish(results: readonly AttemptResult[], bounces: readonly BounceMessage[]): Promise<void> {
    let out = false;
    for (let i = 0; i < results.length; i += TOGETHER) {
      const ends = results.slice(i, i + TOGETHER);
      const ids = new Set(ends.map((end) => end.id));
      // With each slice that ends a row of its own: those of one may all have been cancelled. The first sends it. Made
      // ready anew for each, as octets that crossed to the writer are its own.
      const mine = bounces.filter(({ about }) => about.some((id) => ids.has(id)));
      const prepared = await Promise.all(mine.map((bounce) => this.#prepare(bounce)));
      await this.#options.store.write(finishAttempts, { ...(await this.#fallbacks(ends)), bounces: prepared });
      out ||= prepared.some(({ outgoing }) => outgoing.elsewhere.length > 0);
    }
    if (out) this.changed();
  }

  async *content(message: number): AsyncIterable<Buffer> {
    const found = await this.#options.store.read(submissionBlob, { id: message });
    if (found === undefined) throw new Error(`submission ${message} is not there`);
    if (found.prefix !== '') yield Buffer.from(found.prefix, 'latin1');
    const octets = this.#octets(found);
    const authserv = resultsServer(found.prefix);
    yield* authserv === undefined ? octets : withoutResultsOf(authserv, octets);
  }

  async *#octets({ blob, size, data }: SubmissionBlob): AsyncIterable<Buffer> {
    if (data !== null) return yield Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    for (let at = 0; at < size; at += CHUNK) {
      yield await this.#options.store.blob(blob, at, Math.min(CHUNK, size - at));
    }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Something was queued, released or asked to be tried now. The first time is told at once, a burst then together. */
  changed(): void {
    if (this.#telling !== undefined) return;
    const wait = this.#toldAt + BURST_MS - performance.now();
    if (wait <= 0) this.#tell();
    else this.#telling = setTimeout(() => this.#tell(), wait).unref();
  }

  #tell(): void {
    this.#telling = undefined;
    this.#toldAt = performance.now();
    for (const listener of this.#listeners) listener();
  }

  /** What comes into a mailbox after all. One that cannot be read waits: it must hold up no other result. */
  async #fallbacks(results: readonly AttemptEnd[]): Promise<{ ends: AttemptEnd[]; fallbacks: Fallback[] }> {
    const { store } = this.#options;
    const ids = results.filter((end) => end.outcome === 'failed').map((end) => end.id);
    const fallbacks: Fallback[] = [];
    const unreadable = new Set<number>();
    // One after the other: many of the largest size at once would be more memory than anybody gave.
    for (const { id, blob, size } of ids.length === 0 ? [] : await store.read(fallbackRows, { ids })) {
      try {
        fallbacks.push({ row: id, index: indexMessage(await store.blob(blob, 0, size), store.secretLinks) });
      } catch {
        unreadable.add(id);
      }
    }
    const later = (end: AttemptEnd): AttemptEnd => ({ ...end, outcome: 'deferred', nextAt: end.at + UNREADABLE_MS });
    return { fallbacks, ends: results.map((end) => (unreadable.has(end.id) ? later(end) : end)) };
  }

  async #prepare(bounce: BounceMessage): Promise<PreparedBounce> {
    const { store, hold } = this.#options;
    const trace = this.#options.traceId();
    const outgoing = await ownReport(store, { to: bounce.recipient, bytes: bounce.bytes, trace, hold });
    return { about: bounce.about, kind: bounce.kind, outgoing };
  }
}

function toItem(row: DueRow, routes: readonly OutboundRoute[], box: 'always' | 'failover' | undefined): QueueItem {
  const sender = row.sender === '' ? undefined : parseAddress(row.sender);
  const { tenant, domain, route } = row;
  return {
    id: row.id,
    trace: row.trace,
    message: row.submission_id,
    sender,
    // It was a parsed address when it was queued; one that is none any more fails at its destination, alone.
    recipient: parseAddress(row.recipient) ?? { local: row.recipient, domain: row.domain },
    domain: row.domain,
    tenant: row.tenant,
    owner: row.owner,
    lane: row.lane_id,
    way: chooseWay({ tenant, sender: sender?.domain ?? '', domain, route }, routes, box),
    attempts: row.attempts,
    queuedAt: row.created_at,
    nextAt: row.next_at,
    smtputf8: row.smtputf8 === 1,
    eightBit: row.eight_bit === 1,
    notify: row.notify,
    orcpt: row.orcpt,
    envid: row.envid,
    ret: row.ret,
    requireTls: row.require_tls === 1,
    size: row.size,
    signers: JSON.parse(row.signers) as Record<string, number>,
    delayTold: row.delay_told >= DELAY_TOLD,
    ...(isStatus(row.arc) && { arc: row.arc }),
    ...(row.sign_as !== '' && { signAs: row.sign_as === UNSIGNED ? [] : row.sign_as.split(' ') }),
  };
}
