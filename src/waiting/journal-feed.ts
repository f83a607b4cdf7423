import type { JournalView } from '../core/mail-waits.ts';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Semaphore } from '../../mail/limits/semaphore.ts';
import type { Log } from '../../mail/log.ts';
import {
  journalEnds,
  journalLinesAfter,
  type JournalTail,
  type JournalTailLine,
} from '../../mail/store/journal/journal-tail.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Delay that coalesces reads. */
const COALESCE_MS = 30;
/** Retry delay after a read error: the next commit may be hours away. */
const RETRY_MS = 1_000;
/** Lines per tenant in memory, for followers that are nearly up to date. */
const MAX_BUFFERED_LINES = 200;
/** Lines of one page. */
const PAGE = 100;
/** Concurrent reads from the disk, for followers that are behind. */
const MAX_CATCHING_UP = 4;

type LineListener = (lines: readonly JournalTailLine[]) => void;

/** A tenant with followers, and its lines after `from`. */
interface FollowedTenant {
  listeners: Set<LineListener>;
  from: number;
  lines: JournalTailLine[];
}

/**
 * Feeds journal lines to all followers: one read after a commit serves them all. Reads nothing without followers.
 */
export class SharedJournalFeed implements Disposable {
  readonly #store: MailStore;
  readonly #log: Log;
  readonly #end: () => void;
  readonly #followed = new Map<number, FollowedTenant>();
  /** Bounded by the open waits. */
  readonly #catchingUp = new Semaphore({ limit: MAX_CATCHING_UP });
  /** The last line read; undefined: no followers. */
  #seen: number | undefined;
  #soon: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(store: MailStore, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#end = store.onWakeUp(({ account }) => {
      if (account === 0) this.#scheduleRead();
    });
  }

  /** Calls back with new lines of a view. Returns the function that stops it. */
  async follow(view: JournalView, listener: LineListener): Promise<() => void> {
    const { newest } = await this.#store.read(journalEnds, undefined);
    this.#seen ??= newest;
    const followed = this.#followed.get(view.tenant) ?? { listeners: new Set(), from: this.#seen, lines: [] };
    const filtered: LineListener = (lines) => {
      const seen = lines.filter((line) => isInView(line, view));
      if (seen.length > 0) listener(seen);
    };
    followed.listeners.add(filtered);
    this.#followed.set(view.tenant, followed);
    // Lines committed since the read above caused no wake-up.
    this.#scheduleRead();
    return () => this.#leave(view.tenant, followed, filtered);
  }

  /** Reads a page of a view's lines after a line. */
  async readAfter(view: JournalView, after: number): Promise<JournalTail> {
    const followed = this.#followed.get(view.tenant);
    if (followed === undefined || after < followed.from) {
      using _permit = await this.#catchingUp.acquire();
      return await this.#store.scan(journalLinesAfter, { ...view, after, limit: PAGE });
    }
    const lines = followed.lines.filter((line) => line.id > after && isInView(line, view)).slice(0, PAGE);
    const last = lines.length === PAGE ? lines.at(-1) : undefined;
    return { lines, seen: last?.id ?? Math.max(after, this.#seen ?? 0), more: last !== undefined };
  }

  /** The last line seen by a follower that received everything up to `line`. */
  positionAfter(line: number): number {
    return Math.max(line, this.#seen ?? 0);
  }

  [Symbol.dispose](): void {
    this.#end();
    this.#followed.clear();
    this.#rest();
  }

  #rest(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#seen = undefined;
  }

  #leave(tenant: number, followed: FollowedTenant, listener: LineListener): void {
    followed.listeners.delete(listener);
    if (followed.listeners.size === 0 && this.#followed.get(tenant) === followed) this.#followed.delete(tenant);
    if (this.#followed.size === 0) this.#rest();
  }

  #scheduleRead(ms = COALESCE_MS): void {
    if (this.#followed.size > 0) this.#soon ??= setTimeout(() => this.#startRead(), ms);
  }

  #startRead(): void {
    this.#soon = undefined;
    this.#reading = this.#reading
      .then(() => this.#read())
      .catch((error: unknown) => {
        this.#log.warn({ err: error }, 'failed to read the journal, will retry');
        this.#scheduleRead(RETRY_MS);
      });
  }

  async #read(): Promise<void> {
    for (let more = true; more && this.#seen !== undefined; await yieldToEventLoop()) {
      const after = this.#seen;
      const tail = await this.#store.read(journalLinesAfter, { tenant: null, accounts: null, after, limit: PAGE });
      // All followers left meanwhile, and new ones may have come.
      if (this.#seen !== after) return;
      this.#seen = tail.seen;
      this.#distribute(tail.lines);
      ({ more } = tail);
    }
  }

  #distribute(lines: readonly JournalTailLine[]): void {
    for (const [tenant, own] of Map.groupBy(lines, (line) => line.tenant)) {
      const followed = tenant === null ? undefined : this.#followed.get(tenant);
      if (followed === undefined) continue;
      followed.lines.push(...own);
      const dropped = followed.lines.splice(0, Math.max(0, followed.lines.length - MAX_BUFFERED_LINES));
      followed.from = dropped.at(-1)?.id ?? followed.from;
      for (const listener of followed.listeners) listener(own);
    }
  }
}

function isInView({ tenant, account }: JournalTailLine, view: JournalView): boolean {
  if (tenant !== view.tenant) return false;
  return view.accounts === null || (account !== null && view.accounts.includes(account));
}
