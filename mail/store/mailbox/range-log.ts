import { setImmediate } from 'node:timers/promises';
import type { Command } from '../engine/types.ts';
import type { StoreFlagsResult } from './flag-change.ts';
import { applyRangeFlags, logRangeFlags, type RangeChange } from './flag-log.ts';

/** Messages whose rows are written at once. */
const SLICE = 2000;
/** Time without a change after which the rows are written, ms: a client often changes the same messages again. */
const QUIET_MS = 100;
/** The account of a query that does not name one. */
const ANY = 0;

/**
 * Keeps readers and the log of flags apart. A reader of an account whose log has a change waits until the rows have it;
 * while one reads, changes are not logged but written directly. So no query sees a mod-sequence without its flags.
 */
export class RangeLog {
  readonly #write: <I, O>(what: Command<I, O>, input: I, slice: boolean) => Promise<O>;
  /** Queries that run or wait, by account. */
  readonly #readers = new Map<number, number>();
  /** Accounts with changes whose rows may not be written. */
  readonly #changed = new Set<number>();
  /** Ranges and flags of the log. A change of others waits: the next command of another kind writes all rows first. */
  #ranges: string | undefined;
  /** Commands under way that log. */
  #logging = 0;
  #settling: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(write: <I, O>(what: Command<I, O>, input: I, slice: boolean) => Promise<O>) {
    this.#write = write;
  }

  /** Reports whether the log may have changes of an account, which a view has to read too. */
  has(account: number): boolean {
    return this.#changed.has(account);
  }

  /** Continues with the log of a process that ended: changes of these accounts. If the disk is full, readers wait. */
  async recover(accounts: readonly number[]): Promise<void> {
    for (const account of accounts) this.#changed.add(account);
    if (accounts.length > 0) this.#ranges = '';
    await this.settled().catch(() => undefined);
  }

  /** Writes what was logged, if that can be done now. */
  async close(): Promise<void> {
    if (this.#changed.size > 0) await this.settled().catch(() => undefined);
  }

  /** Runs a query when the rows that it may read are written. */
  read<T>(input: unknown, run: () => Promise<T>): Promise<T> {
    const account = accountOf(input);
    this.#readers.set(account, (this.#readers.get(account) ?? 0) + 1);
    const isBehind = account === ANY ? this.#changed.size > 0 : this.#changed.has(account);
    const result = isBehind ? this.settled().then(run) : run();
    const end = (): void => this.#end(account);
    result.then(end, end);
    return result;
  }

  /** Logs a change. Undefined: write it directly. */
  async log(change: RangeChange): Promise<StoreFlagsResult | undefined> {
    const { account, mailbox, ranges, flags } = change;
    const key = JSON.stringify([account, mailbox, ranges, flags]);
    while (this.#ranges !== undefined && this.#ranges !== key) await this.settled();
    if (this.#isRead(account)) {
      await this.settled();
      await setImmediate();
      if (this.#isRead(account) || this.#ranges !== undefined) return undefined;
    }
    clearTimeout(this.#timer);
    this.#changed.add(account);
    this.#ranges = key;
    this.#logging++;
    try {
      const logged = await this.#write(logRangeFlags, change, false);
      return logged.kind === 'unsuitable' ? undefined : logged;
    } finally {
      this.#logging--;
      this.#settleLater();
    }
  }

  /** Resolves when the rows have all logged changes; rejects if they cannot be written now. */
  settled(): Promise<void> {
    clearTimeout(this.#timer);
    return (this.#settling ??= this.#settle().finally(() => (this.#settling = undefined)));
  }

  #isRead(account: number): boolean {
    return this.#readers.has(ANY) || this.#readers.has(account);
  }

  #settleLater(): void {
    clearTimeout(this.#timer);
    // After a failure the next reader tries again.
    this.#timer = setTimeout(() => void this.settled().catch(() => undefined), QUIET_MS);
    this.#timer.unref();
  }

  async #settle(): Promise<void> {
    for (;;) {
      const { more } = await this.#write(applyRangeFlags, { rows: SLICE }, true);
      if (!more && this.#logging === 0) break;
    }
    this.#changed.clear();
    this.#ranges = undefined;
  }

  #end(account: number): void {
    const count = this.#readers.get(account) ?? 1;
    if (count > 1) this.#readers.set(account, count - 1);
    else this.#readers.delete(account);
  }
}

function accountOf(input: unknown): number {
  const account = (input as { account?: unknown } | undefined | null)?.account;
  return typeof account === 'number' ? account : ANY;
}
