import type { Log } from '../log.ts';
import { purgeRemovedAccount, removedAccounts } from '../store/account/account-removal.ts';
import { namedFiles } from '../store/blob/content.ts';
import { purgeSentCopies, KEEP_SENT_COPIES_MS } from '../store/queue/sent-copies.ts';
import {
  purgeWebhookEvents,
  WEBHOOK_EVENT_RETENTION_MS,
  disabledListeners,
  trimWebhookEvents,
} from '../store/notification/webhook-event.ts';
import { purgeSubmissions, KEEP_SUBMISSIONS_MS } from '../store/submission/jmap-submission.ts';
import { purgeJmapUploads } from '../store/blob/jmap-upload.ts';
import { purgeGreylist } from '../store/limit/greylist.ts';
import { indexJournal } from '../store/journal/journal-index.ts';
import { purgeAgentChanges } from '../agents/undo/email-changes.ts';
import { continueHolds } from '../agents/freeze/hold.ts';
import { purgeAgentSends } from '../agents/gate/send-log.ts';
import { purgeBans } from '../store/limit/ban.ts';
import { purgeTaints } from '../agents/taint/taint.ts';
import { purgeDownloads } from '../agents/taint/downloads.ts';
import { purgeBudgetUse } from '../store/limit/budget.ts';
import { purgeShownSecrets } from '../agents/secrets/shown-secret.ts';
import { purgeSenderUse } from '../store/limit/sender-use.ts';
import { accountsOverSenderLimit, purgeSenders, MAX_SENDERS, trimSenders } from '../store/filter/sender.ts';
import { expireApprovals, purgeApprovals } from '../agents/approval/approval.ts';
import type { Command } from '../store/engine/types.ts';
import { purgeRejects } from '../store/filter/reject.ts';
import { recordKeptMail } from '../store/filter/training-sample.ts';
import type { MailStore } from '../store/store.ts';
import {
  purgeDeletedFolder,
  purgeExpunged,
  purgeHistory,
  purgeTombstones,
  deletedMailboxes,
  EXPUNGED_RETENTION_MS,
  HISTORY_RETENTION_MS,
  TOMBSTONE_RETENTION_MS,
} from '../store/retention/purge.ts';
import { purgeMessages } from '../store/retention/purge-messages.ts';
import { agingMailboxes, deleteAged, ruledMailboxes } from '../store/retention/rules.ts';
import { purgeStsPolicies } from '../store/queue/sts-policy.ts';
import { purgeDmarcResults } from '../store/filter/dmarc-result.ts';
import { purgeSentReports } from '../store/queue/sent-report.ts';
import { purgePeers } from '../store/queue/delivery-peer.ts';
import { purgeTlsResults } from '../store/queue/tls-result.ts';
import { purgeVacationReplies } from '../store/submission/vacation.ts';
import { sweepWords } from '../store/filter/word-sweep.ts';
import type { Job } from './scheduler.ts';
import type { SteadyClock } from './steady-clock.ts';

/** Events stored for a disabled webhook. */
const MAX_EVENTS = 100_000;
const SWEEP_EVERY_MS = 24 * 3600_000;
/** Younger files may belong to a message that is being accepted. */
const SWEEP_AGE_MS = 3600_000;

/** Deletes a slice of expired rows; returns true if there are more. */
export type PurgeCommand = Command<undefined, boolean>;

/** Deletes expired data, in slices with low priority. */
export class RetentionJob implements Job {
  readonly name = 'retention';
  readonly everyMs = 10 * 60_000;
  /** Not right after the start, which has other work. */
  readonly firstMs = 60_000;
  readonly #store: MailStore;
  readonly #clock: () => number;
  readonly #log: Log;
  readonly #purges: readonly PurgeCommand[];
  readonly #steadyClock: SteadyClock | undefined;
  #stop: AbortSignal | undefined;
  /** ms UTC of the last sweep; the first one deletes all unreferenced files from before this start. */
  #sweptAt: number | undefined;
  readonly #began = Date.now();

  /**
   * `more`: purges of the appliance (listed in src/start/jobs.ts), run after those of the mail engine. `steadyClock`:
   * nothing is purged while it doubts the time.
   */
  constructor(
    store: MailStore,
    clock: () => number,
    log: Log,
    more: readonly PurgeCommand[] = [],
    steadyClock?: SteadyClock,
  ) {
    this.#steadyClock = steadyClock;
    this.#purges = [
      continueHolds,
      purgeAgentChanges,
      purgeAgentSends,
      expireApprovals,
      purgeApprovals,
      purgeBans,
      purgeTaints,
      purgeDownloads,
      purgeRejects,
      purgeSenders,
      purgeSenderUse,
      purgeShownSecrets,
      purgeBudgetUse,
      purgeGreylist,
      purgeStsPolicies,
      purgePeers,
      purgeTlsResults,
      purgeDmarcResults,
      purgeSentReports,
      purgeVacationReplies,
      recordKeptMail,
      sweepWords,
      ...more,
    ];
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Purges everything once. */
  async run(stop: AbortSignal = new AbortController().signal): Promise<void> {
    this.#stop = stop;
    if (!this.#continues()) return this.#log.info({}, 'purges wait until the system clock is confirmed');
    await this.#emptyAccounts();
    await this.#emptyMailboxes();
    await this.#purge(indexJournal, undefined);
    await this.#purgeAll();
    await this.#trimEvents();
    await this.#trimSenders();
    if (!this.#continues()) return;
    if (this.#sweptAt === undefined || Date.now() - this.#sweptAt >= SWEEP_EVERY_MS) await this.#sweep();
  }

  /** False when stopped, and while the time is in doubt: a clock that jumped a year would purge everything. */
  #continues(): boolean {
    return this.#stop?.aborted !== true && (this.#steadyClock?.state().kind ?? 'steady') === 'steady';
  }

  /** Runs a purge slice by slice until it is finished or stopped. */
  async #purge<Input>(command: Command<Input, boolean>, input: Input): Promise<void> {
    while (this.#continues() && (await this.#store.writeSlice(command, input)));
  }

  /** Like #purge, for commands that return files without references. */
  async #purgeFiles<Input>(command: Command<Input, { files: string[]; more: boolean }>, input: Input): Promise<void> {
    for (let more = true; more && this.#continues();) {
      const done = await this.#store.writeSlice(command, input);
      // After the commit: the sweep finds files left by a crash before this.
      for (const file of done.files) await this.#store.files.remove(file);
      more = done.more;
    }
  }

  async #emptyAccounts(): Promise<void> {
    for (const account of await this.#store.read(removedAccounts, undefined)) {
      await purgeMessages(this.#store, purgeRemovedAccount, { account }, () => this.#continues());
    }
  }

  async #emptyMailboxes(): Promise<void> {
    for (const { id, account_id } of await this.#store.read(deletedMailboxes, { account: null })) {
      let remaining = 1;
      while (remaining > 0 && this.#continues()) {
        remaining = await this.#store.writeSlice(purgeDeletedFolder, { account: account_id, mailbox: id });
      }
    }
  }

  async #purgeAll(): Promise<void> {
    const now = this.#clock();
    await this.#deleteAged(agingMailboxes);
    await this.#deleteAged(ruledMailboxes);
    const before = now - EXPUNGED_RETENTION_MS;
    await purgeMessages(this.#store, purgeExpunged, { before }, () => this.#continues());
    await this.#purgeFiles(purgeJmapUploads, undefined);
    await this.#purge(purgeHistory, { before: now - HISTORY_RETENTION_MS });
    await this.#purge(purgeSentCopies, { before: now - KEEP_SENT_COPIES_MS });
    await this.#purge(purgeSubmissions, { before: now - KEEP_SUBMISSIONS_MS });
    await this.#purge(purgeTombstones, { before: now - TOMBSTONE_RETENTION_MS });
    for (const one of this.#purges) await this.#purge(one, undefined);
  }

  /** Deletes messages that are in a mailbox for longer than the rules of their organization say. */
  async #deleteAged(which: typeof agingMailboxes): Promise<void> {
    for (let after = 0; this.#continues();) {
      const page = await this.#store.scan(which, { after });
      for (const { id, account, days } of page) {
        if (days !== null) await this.#purge(deleteAged, { account, mailbox: id, days });
      }
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  }

  async #trimEvents(): Promise<void> {
    await this.#purge(purgeWebhookEvents, { before: this.#clock() - WEBHOOK_EVENT_RETENTION_MS });
    for (const listener of await this.#store.read(disabledListeners, undefined)) {
      await this.#purge(trimWebhookEvents, { listener, keep: MAX_EVENTS });
    }
  }

  async #trimSenders(): Promise<void> {
    for (const account of await this.#store.scan(accountsOverSenderLimit, { most: MAX_SENDERS })) {
      await this.#purge(trimSenders, { account, most: MAX_SENDERS });
    }
  }

  async #sweep(): Promise<void> {
    const named = async (files: string[]): Promise<Set<string>> =>
      new Set(await this.#store.read(namedFiles, { files }));
    // Other nodes upload files for commits that are still to come.
    const isFirst = this.#sweptAt === undefined && this.#store.nodes === undefined;
    const olderThan = isFirst ? this.#began : Date.now() - SWEEP_AGE_MS;
    const removed = await this.#store.files.sweep(named, olderThan);
    this.#sweptAt = Date.now();
    if (removed > 0) this.#log.info({ removed }, 'deleted unreferenced files');
  }
}
