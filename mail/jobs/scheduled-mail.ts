import { createHash } from 'node:crypto';
import type { NoticeReplies } from '../delivery/notice-replies.ts';
import { suppressedOf, UNREACHABLE } from '../delivery/destinations.ts';
import {
  dueMessages,
  type DueMessage,
  type ReleasedMessage,
  deferScheduled,
  sendScheduled,
} from '../delivery/scheduled-messages.ts';
import { resolveRecipients, createSuccessReport } from '../delivery/resolve-recipients.ts';
import type { SubmissionContext } from '../delivery/submission-draft.ts';
import type { Log } from '../log.ts';
import { addressKey, parseAddress, textKey } from '../message/address.ts';
import { readFields } from '../message/header.ts';
import { indexMessage } from '../message/indexer.ts';
import { StoreBusy } from '../store/engine/types.ts';
import type { Job } from './scheduler.ts';
import type { SteadyClock } from './steady-clock.ts';

/** Short, because clocks jump and people release held mail. */
const EVERY_MS = 2_000;
const FIRST_MS = 50;
/** A server may have been off for a week, and what came due meanwhile is sent. */
const MAX_AHEAD_MS = 7 * 24 * 3_600_000;

export interface ScheduledMailOptions extends Pick<
  SubmissionContext,
  'store' | 'hostname' | 'clock' | 'forwardKey' | 'hold' | 'traceId' | 'queued'
> {
  log: Log;
  /** Messages wait while it is ahead by more than {@link MAX_AHEAD_MS} without confirmation. */
  steadyClock?: SteadyClock | undefined;
  /** Addresses of replies to notices; such a reply was processed at submission. */
  noticeReplies?: Pick<NoticeReplies, 'classify'>;
}

/** The message cannot be sent yet; the text is shown to its sender. */
class ScheduledMailDelay extends Error {
  override readonly name = 'Waits';
}

/** Sends scheduled messages when due, overdue ones first. */
export class ScheduledMail implements Job {
  readonly name = 'scheduled-mail';
  readonly everyMs = EVERY_MS;
  readonly firstMs = FIRST_MS;
  readonly backoffMs = 10_000;
  readonly #options: ScheduledMailOptions;

  constructor(options: ScheduledMailOptions) {
    this.#options = options;
  }

  /** Sends every due message. Returns the next due time, ms UTC. */
  async run(stop?: AbortSignal): Promise<number | undefined> {
    const { store, clock, steadyClock } = this.#options;
    for (;;) {
      if ((steadyClock?.aheadMs() ?? 0) > MAX_AHEAD_MS) return undefined;
      const { due, next } = await store.read(dueMessages, { now: clock() });
      for (const message of due) await this.#send(message);
      if (due.length === 0 || stop?.aborted === true) return next;
    }
  }

  /** Sends one message. A failure must not block the messages after it. */
  async #send(message: DueMessage): Promise<void> {
    const { store, queued, log } = this.#options;
    try {
      const done = await store.write(sendScheduled, await this.#prepare(message));
      if (done.queued) queued();
    } catch (error) {
      // The store refuses all writes now.
      if (error instanceof StoreBusy) throw error;
      log.error({ err: error, message: message.trace }, 'failed to send a scheduled message, will retry');
      const because =
        error instanceof ScheduledMailDelay
          ? error.message
          : 'failed to read or prepare the message, see the server log';
      await store.write(deferScheduled, { id: message.id, because });
    }
  }

  /** Prepares a message with the steps of a submission. Rejects when it cannot be sent yet. */
  async #prepare(message: DueMessage): Promise<ReleasedMessage> {
    const { id, blob, size, recipients, tenant, skipsSuppressed, signAs, envid } = message;
    const { store, hold } = this.#options;
    const data = await store.blob(blob, 0, size);
    const index = indexMessage(data, store.secretLinks);
    const header = data.subarray(0, index.headerLength);
    const keys = skipsSuppressed ? recipients.map(textKey) : [];
    const reasons = new Map((await store.read(suppressedOf, { tenant, keys })).map((one) => [one.key, one.reason]));
    const suppressed = recipients.flatMap((address) => {
      const reason = reasons.get(textKey(address));
      return reason === undefined ? [] : [{ address, reason }];
    });
    const wishes = new Map(message.wishes.map((wish) => [wish.recipient, wish]));
    const open = recipients.flatMap((text) => {
      const address = parseAddress(text);
      return address === undefined || reasons.has(addressKey(address)) ? [] : [{ ...wishes.get(text), address }];
    });
    const sender = parseAddress(message.sender);
    const fields = readFields(header.toString('latin1'));
    const mail = { sender, recipients: open, fields, index, signAs, mayReplyToNotices: true, late: true };
    const { dsnRequests, ...where } = await resolveRecipients(this.#options, mail);
    const waits = where.unreachable.find(({ why }) => why === 'later');
    if (waits !== undefined)
      throw new ScheduledMailDelay(`${waits.address} cannot be reached yet: ${UNREACHABLE.later}`);
    const sent = { sender, envid, dsnRequests, local: where.local, header: () => Promise.resolve(header) };
    const report = await createSuccessReport(this.#options, sent);
    const sha256 = createHash('sha256').update(data).digest('hex');
    return { id, index, hold, suppressed, sha256, ...where, ...(report !== undefined && { report }) };
  }
}
