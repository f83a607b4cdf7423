import type { Log } from '../log.ts';
import { emptyGoneAccount, goneAccounts } from '../store/account-removal.ts';
import { namedFiles } from '../store/content.ts';
import { forgetDeparted, KEEP_DEPARTED_MS } from '../store/departed.ts';
import { forgetNotices, KEEP_NOTICES_MS, listenersOff, trimNotices } from '../store/notice.ts';
import { forgetSubmissions, KEEP_SUBMISSIONS_MS } from '../store/jmap-submission.ts';
import { forgetUploads } from '../store/jmap-upload.ts';
import { forgetGreylist } from '../store/greylist.ts';
import { indexJournal } from '../store/journal-index.ts';
import { forgetAgentChanges } from '../store/agent-change.ts';
import { holdRest } from '../store/agent-hold.ts';
import { forgetAgentSends } from '../store/agent-send.ts';
import { forgetBans } from '../store/ban.ts';
import { forgetExposures } from '../store/exposure.ts';
import { forgetHandedOut } from '../store/handed-out.ts';
import { forgetSpent } from '../store/budget.ts';
import { forgetShown } from '../store/shown-secret.ts';
import { forgetSenderUse } from '../store/sender-use.ts';
import { crowdedSenders, forgetSenders, MOST_SENDERS, trimSenders } from '../store/sender.ts';
import { expireApprovals, forgetApprovals } from '../store/approval-chores.ts';
import type { Command } from '../store/engine/types.ts';
import { forgetRejects } from '../store/reject.ts';
import { noteKept } from '../store/lesson.ts';
import type { MailStore } from '../store/store.ts';
import {
  emptyGoneMailbox,
  forgetExpunged,
  forgetHistory,
  forgetTombstones,
  goneMailboxes,
  KEEP_EXPUNGED_MS,
  KEEP_HISTORY_MS,
  KEEP_TOMBSTONES_MS,
} from '../store/tidy.ts';
import { forgetStsPolicies } from '../store/sts-policy.ts';
import { forgetTlsResults } from '../store/tls-result.ts';
import { forgetVacationAnswers } from '../store/vacation.ts';
import { sweepWords } from '../store/word-sweep.ts';

/** What a listener that is off can have waiting. */
const MOST_NOTICES = 100_000;
const EVERY_MS = 10 * 60_000;
const SWEEP_EVERY_MS = 24 * 3600_000;
/** Files this young may belong to a message that is just being accepted. */
const SWEEP_AGE_MS = 3600_000;
/** The first round waits until the start is over, with its doors and its first clients. */
const FIRST_MS = 60_000;

/** Takes a slice away, and answers whether there is more. */
export type Chore = Command<undefined, boolean>;

/** What has to be tidied now and then, in slices behind everybody's work. */
export class Housekeeping implements AsyncDisposable {
  readonly #store: MailStore;
  readonly #clock: () => number;
  readonly #log: Log;
  readonly #chores: readonly Chore[];
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;
  /** ms UTC of the last sweep; the first one takes everything that was there before this start. */
  #sweptAt: number | undefined;
  readonly #began = Date.now();

  /** `chores` are those of others, done with our own. */
  constructor(store: MailStore, clock: () => number, log: Log, chores: readonly Chore[] = []) {
    this.#chores = [
      holdRest,
      forgetAgentChanges,
      forgetAgentSends,
      expireApprovals,
      forgetApprovals,
      forgetBans,
      forgetExposures,
      forgetHandedOut,
      forgetRejects,
      forgetSenders,
      forgetSenderUse,
      forgetShown,
      forgetSpent,
      forgetGreylist,
      forgetStsPolicies,
      forgetTlsResults,
      forgetVacationAnswers,
      noteKept,
      sweepWords,
      ...chores,
    ];
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#timer = this.#later(FIRST_MS);
  }

  /** One whole round now. */
  async run(): Promise<void> {
    await this.#emptyAccounts();
    await this.#emptyMailboxes();
    await this.#indexJournal();
    await this.#forget();
    await this.#forgetNotices();
    await this.#trimSenders();
    if (this.#sweptAt === undefined || Date.now() - this.#sweptAt >= SWEEP_EVERY_MS) await this.#sweep();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.run()
        .catch((error: unknown) => this.#log.error({ err: error }, 'housekeeping failed, it goes on at its next round'))
        .finally(() => {
          if (!this.#closing) this.#timer = this.#later(EVERY_MS);
        });
    }, ms).unref();
  }

  async #emptyAccounts(): Promise<void> {
    for (const account of await this.#store.read(goneAccounts, undefined)) {
      for (let more = true; more && !this.#closing;) {
        const done = await this.#store.writeSlice(emptyGoneAccount, { account });
        for (const file of done.files) await this.#store.files.remove(file);
        more = done.more;
      }
    }
  }

  async #emptyMailboxes(): Promise<void> {
    for (const { id, account_id } of await this.#store.read(goneMailboxes, undefined)) {
      let left = 1;
      while (left > 0 && !this.#closing) {
        left = await this.#store.writeSlice(emptyGoneMailbox, { account: account_id, mailbox: id });
      }
    }
  }

  async #forget(): Promise<void> {
    await this.#forgetFiles(() => this.#store.writeSlice(forgetExpunged, { before: this.#clock() - KEEP_EXPUNGED_MS }));
    await this.#forgetFiles(() => this.#store.writeSlice(forgetUploads, undefined));
    while (
      !this.#closing &&
      (await this.#store.writeSlice(forgetHistory, { before: this.#clock() - KEEP_HISTORY_MS }))
    );
    while (
      !this.#closing &&
      (await this.#store.writeSlice(forgetDeparted, { before: this.#clock() - KEEP_DEPARTED_MS }))
    );
    while (
      !this.#closing &&
      (await this.#store.writeSlice(forgetSubmissions, { before: this.#clock() - KEEP_SUBMISSIONS_MS }))
    );
    while (
      !this.#closing &&
      (await this.#store.writeSlice(forgetTombstones, { before: this.#clock() - KEEP_TOMBSTONES_MS }))
    );
    for (const forget of this.#chores) while (!this.#closing && (await this.#store.writeSlice(forget, undefined)));
  }

  /** Slice after slice, each with the files that it leaves unnamed. */
  async #forgetFiles(slice: () => Promise<{ files: string[]; more: boolean }>): Promise<void> {
    let more = true;
    while (more && !this.#closing) {
      const done = await slice();
      // After the commit: a crash before this leaves files that the sweep finds.
      for (const file of done.files) await this.#store.files.remove(file);
      more = done.more;
    }
  }

  async #indexJournal(): Promise<void> {
    while (!this.#closing && (await this.#store.writeSlice(indexJournal, undefined)));
  }

  async #forgetNotices(): Promise<void> {
    const before = this.#clock() - KEEP_NOTICES_MS;
    while (!this.#closing && (await this.#store.writeSlice(forgetNotices, { before })));
    for (const listener of await this.#store.read(listenersOff, undefined)) {
      while (!this.#closing && (await this.#store.writeSlice(trimNotices, { listener, keep: MOST_NOTICES })));
    }
  }

  async #trimSenders(): Promise<void> {
    const most = MOST_SENDERS;
    for (const account of await this.#store.scan(crowdedSenders, { most })) {
      while (!this.#closing && (await this.#store.writeSlice(trimSenders, { account, most })));
    }
  }

  async #sweep(): Promise<void> {
    const named = async (files: string[]): Promise<Set<string>> =>
      new Set(await this.#store.read(namedFiles, { files }));
    const olderThan = this.#sweptAt === undefined ? this.#began : Date.now() - SWEEP_AGE_MS;
    const removed = await this.#store.files.sweep(named, olderThan);
    this.#sweptAt = Date.now();
    if (removed > 0) this.#log.info({ removed }, 'removed files that no message needs any more');
  }
}
