import { isChainStatus } from '../auth/authentication.ts';
import { leadingAuthserv, removeForgedResults } from '../auth/forged-results.ts';
import { parseAddress } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { indexMessage } from '../message/indexer.ts';
import { deliverTo } from '../delivery/deliver.ts';
import { routeReport } from '../delivery/route-report.ts';
import { recordFailed } from '../delivery/anomaly-watch.ts';
import { type ReportKind, sendNotice, type SystemNotice } from '../delivery/notice.ts';
import { command, lookup, type Stamp, type Write } from '../store/engine/types.ts';
import { recordJournalEvent } from '../store/journal/journal.ts';
import {
  type AttemptResult,
  beginAttempts,
  DELAY_DSN_SENT,
  FINAL_DSN_SENT,
  endAttempt,
  markDsnSent,
  UNSIGNED,
} from '../store/queue/queue.ts';
import { type OutboundRoute, outboundRoutes } from '../store/queue/outbound-route.ts';
import { type DueRow, dueRows, nextDue } from '../store/queue/due-rows.ts';
import type { MailStore } from '../store/store.ts';
import { isUnknownRecipient } from '../store/queue/suppression.ts';
import { notePeers } from '../store/queue/delivery-peer.ts';
import { noteTlsResults } from '../store/queue/tls-result.ts';
import type { BounceMessage, DueQuery, RelayQueue, QueueItem } from './relay-queue.ts';
import { MAX_RETRY_DELAY } from './schedule.ts';
import { chooseNextHop } from './next-hop.ts';

const CHUNK = 64 * 1024;
const BATCH_SIZE = 50;

/** A bounce prepared for the transaction of its results. */
interface PreparedBounce {
  about: readonly number[];
  kind: BounceMessage['kind'];
  notice: SystemNotice<ReportKind>;
}

const NOTICE_KINDS = { failure: 'bounce', delay: 'delay-report', success: 'success-report' } as const;

/** Records results and their bounces in one commit: no failure without a bounce, and no duplicate bounce. */
export const finishAttempts = command(
  'finish-attempts',
  async (
    tx,
    input: {
      ends: readonly AttemptResult[];
      bounces: readonly PreparedBounce[];
      fallbacks: readonly FallbackDelivery[];
    },
    stamp,
  ): Promise<void> => {
    const ended = new Set(input.ends.map((end) => end.id));
    for (const { about, kind, notice } of input.bounces) {
      // Rows may be deleted or already reported: canceled meanwhile, a second run of the same result, or reported by another
      // batch.
      const row = await tx.get<{ trace: string; tenant: number; account_id: number | null; dsn_sent: number }>(
        `SELECT s.trace, s.tenant, s.account_id, q.dsn_sent FROM queue q JOIN submission s ON s.id = q.submission_id
         WHERE q.id IN (SELECT value FROM json_each(?)) ORDER BY q.dsn_sent, q.id LIMIT 1`,
        JSON.stringify(about.filter((id) => ended.has(id))),
      );
      if (row === undefined || row.dsn_sent >= (kind === 'delay' ? DELAY_DSN_SENT : FINAL_DSN_SENT)) continue;
      const to = notice.here[0]?.to ?? notice.elsewhere[0]?.recipient;
      if (to !== undefined) await sendNotice(tx, notice, stamp);
      const detail =
        to === undefined ? { kind, because: 'its sender does not exist any more' } : { kind, to, as: notice.trace };
      await recordJournalEvent(tx, row.trace, 'bounced', row.account_id, detail, stamp, { tenant: row.tenant });
      if (kind === 'delay') await markDsnSent(tx, about, DELAY_DSN_SENT);
      else
        await markDsnSent(
          tx,
          about.filter((id) => !ended.has(id)),
          FINAL_DSN_SENT,
        );
    }
    for (const fallback of input.fallbacks) await deliverFallback(tx, fallback, stamp);
    for (const end of input.ends) {
      if (end.outcome === 'failed' && isUnknownRecipient(end.status)) await recordFailed(tx, end.id, stamp);
      await endAttempt(tx, end, stamp);
      await noteTlsResults(tx, end.tlsResults ?? [], stamp);
    }
    await notePeers(tx, input.ends, stamp);
  },
);

/** A permanently failed forward of a mailbox that keeps no copy. */
interface FallbackDelivery {
  row: number;
  index: MessageIndex;
}

async function deliverFallback(tx: Write, { row: id, index }: FallbackDelivery, stamp: Stamp): Promise<void> {
  const row = await tx.get<{ account: number; blob: number; sender: string; trace: string; recipient: string }>(
    `SELECT q.fallback_account AS account, s.blob_id AS blob, s.sender, s.trace, q.recipient
     FROM queue q JOIN submission s ON s.id = q.submission_id JOIN account a ON a.id = q.fallback_account AND a.state <> 2
     WHERE q.id = ?`,
    id,
  );
  if (row === undefined || (await hasFallbackCopy(tx, row))) return;
  const trace = Buffer.from(`X-Mailstead-Not-Forwarded: ${row.recipient}\r\n`).toString('latin1');
  // A mailbox that was deleted since keeps it too: it can be restored, and this is the only copy.
  const delivery = { account: row.account, to: row.recipient, trace, evenIfDeleted: true };
  const copy = await deliverTo(tx, delivery, row.blob, index, stamp);
  const detail = { from: row.sender, to: row.recipient, ...(copy !== undefined && { email: copy.email }) };
  await recordJournalEvent(tx, row.trace, 'kept', row.account, detail, stamp, { messageId: index.messageId });
}

/** True if the mailbox already got its one copy, even if that was deleted. */
async function hasFallbackCopy(tx: Write, row: { account: number; blob: number; trace: string }): Promise<boolean> {
  const copy = await tx.get(
    `SELECT 1 AS there FROM email WHERE blob_id = ?1 AND account_id = ?2
     UNION ALL SELECT 1 FROM journal WHERE trace = ?3 AND event = 'kept' AND account_id = ?2 LIMIT 1`,
    row.blob,
    row.account,
    row.trace,
  );
  return copy !== undefined;
}

/** Finds those rows that have a fallback mailbox. */
const fallbackRows = lookup(
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
  /** The whole blob if it fits into one chunk; null: read separately. */
  data: Uint8Array | null;
}

export const submissionBlob = lookup(
  'submission-blob',
  (rx, input: { id: number }): Promise<SubmissionBlob | undefined> =>
    rx.get<SubmissionBlob>(
      `SELECT s.blob_id AS blob, b.size, s.prefix, CASE WHEN b.file IS NULL AND b.size <= ${CHUNK} THEN b.data END AS data
       FROM submission s JOIN blob b ON b.id = s.blob_id WHERE s.id = ?`,
      input.id,
    ),
);

/** Notifications within this time are merged. */
const BURST_MS = 20;
/** Retry delay of a failed forward whose message cannot be read. */
const UNREADABLE_MS = 3_600_000;

export interface StoreQueueOptions {
  store: MailStore;
  /** Reason why remote bounces are held; null: none. */
  hold: string | null;
  /** Use of the box's smarthost; undefined: there is none. */
  smarthost?: 'always' | 'failover' | undefined;
  traceId(): string;
}

/** Relay queue in the database. */
export class StoreQueue implements RelayQueue {
  readonly #options: StoreQueueOptions;
  readonly #listeners = new Set<() => void>();
  #notifiedAt = -Infinity;
  #notifyTimer: NodeJS.Timeout | undefined;

  constructor(options: StoreQueueOptions) {
    this.#options = options;
  }

  async due(dueQuery: DueQuery): Promise<{ items: QueueItem[]; next: number | undefined }> {
    const { rows, next } = await this.#options.store.read(dueRows, {
      ...dueQuery,
      horizon: dueQuery.now + MAX_RETRY_DELAY,
    });
    const tenants = [...new Set(rows.map((row) => row.tenant))];
    const routes = tenants.length === 0 ? [] : await this.#options.store.read(outboundRoutes, { tenants });
    return { items: rows.map((row) => toQueueItem(row, routes, this.#options.smarthost)), next };
  }

  nextDue(): Promise<number | undefined> {
    return this.#options.store.read(nextDue, undefined);
  }

  begin(items: readonly { id: number; nextAt: number }[]): Promise<number[]> {
    return this.#options.store.write(beginAttempts, { items });
  }

  async finish(results: readonly AttemptResult[], bounces: readonly BounceMessage[]): Promise<void> {
    let out = false;
    for (let i = 0; i < results.length; i += BATCH_SIZE) {
      const ends = results.slice(i, i + BATCH_SIZE);
      const ids = new Set(ends.map((end) => end.id));
      // In each batch that has one of its rows, since the rows of one batch may all be canceled; the first one sends it. Prepared
      // anew for each batch, since the octets are transferred to the writer.
      const mine = bounces.filter(({ about }) => about.some((id) => ids.has(id)));
      const prepared = await Promise.all(mine.map((bounce) => this.#prepare(bounce)));
      await this.#options.store.write(finishAttempts, { ...(await this.#fallbacks(ends)), bounces: prepared });
      out ||= prepared.some(({ notice }) => notice.elsewhere.length > 0);
    }
    if (out) this.changed();
  }

  async *content(message: number): AsyncIterable<Buffer> {
    const found = await this.#options.store.read(submissionBlob, { id: message });
    if (found === undefined) throw new Error(`submission ${message} does not exist`);
    if (found.prefix !== '') yield Buffer.from(found.prefix, 'latin1');
    const octets = this.#octets(found);
    const authserv = leadingAuthserv(found.prefix);
    yield* authserv === undefined ? octets : removeForgedResults(authserv, octets);
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

  /** Notifies the relay that rows were queued, released or made due: at once, then at most every {@link BURST_MS}. */
  changed(): void {
    if (this.#notifyTimer !== undefined) return;
    const wait = this.#notifiedAt + BURST_MS - performance.now();
    if (wait <= 0) this.#notify();
    else this.#notifyTimer = setTimeout(() => this.#notify(), wait).unref();
  }

  #notify(): void {
    this.#notifyTimer = undefined;
    this.#notifiedAt = performance.now();
    for (const listener of this.#listeners) listener();
  }

  /** Prepares fallback deliveries. An unreadable message is deferred, so that it blocks no other result. */
  async #fallbacks(
    results: readonly AttemptResult[],
  ): Promise<{ ends: AttemptResult[]; fallbacks: FallbackDelivery[] }> {
    const { store } = this.#options;
    const ids = results.filter((end) => end.outcome === 'failed').map((end) => end.id);
    const fallbacks: FallbackDelivery[] = [];
    const unreadable = new Set<number>();
    // One at a time: many large messages at once would exhaust memory.
    for (const { id, blob, size } of ids.length === 0 ? [] : await store.read(fallbackRows, { ids })) {
      try {
        fallbacks.push({ row: id, index: indexMessage(await store.blob(blob, 0, size), store.secretLinks) });
      } catch {
        unreadable.add(id);
      }
    }
    const later = (end: AttemptResult): AttemptResult => ({
      ...end,
      outcome: 'deferred',
      nextAt: end.at + UNREADABLE_MS,
    });
    return { fallbacks, ends: results.map((end) => (unreadable.has(end.id) ? later(end) : end)) };
  }

  async #prepare(bounce: BounceMessage): Promise<PreparedBounce> {
    const { store, hold } = this.#options;
    const { about, kind, recipient: to, bytes } = bounce;
    const report = { kind: NOTICE_KINDS[kind], to, bytes, trace: this.#options.traceId(), hold };
    return { about, kind, notice: await routeReport(store, report) };
  }
}

function toQueueItem(row: DueRow, routes: readonly OutboundRoute[], box: 'always' | 'failover' | undefined): QueueItem {
  const sender = row.sender === '' ? undefined : parseAddress(row.sender);
  const { tenant, domain, route } = row;
  return {
    id: row.id,
    trace: row.trace,
    message: row.submission_id,
    sender,
    // Parsed when it was queued; one that is invalid now fails alone at its destination.
    recipient: parseAddress(row.recipient) ?? { local: row.recipient, domain: row.domain },
    domain: row.domain,
    tenant: row.tenant,
    owner: row.owner,
    ownerDestination: row.lane_id,
    nextHop: chooseNextHop({ tenant, sender: sender?.domain ?? '', domain, route }, routes, box),
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
    delayReported: row.dsn_sent >= DELAY_DSN_SENT,
    ...(isChainStatus(row.arc) && { arc: row.arc }),
    ...(row.sign_as !== '' && { signAs: row.sign_as === UNSIGNED ? [] : row.sign_as.split(' ') }),
  };
}
