import type { Log, Meter } from '../../mail/log.ts';
import { recordDownloads } from '../../mail/agents/taint/downloads.ts';
import { FRESH_MS, markTainted, outsidersMail, type TaintReader, recordTaints } from '../../mail/agents/taint/taint.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Messages per commit. */
const SLICE = 200;
/** Entries of the cache; an evicted one is only looked up again. */
const MAX_ENTRIES = 50_000;

/** Messages of an account before they are shown. `key` identifies the reader; `reader` looks it up, undefined: no agent. */
export interface Reading {
  readonly key: string;
  readonly account: number;
  readonly emails: readonly number[];
  readonly reader: () => Promise<TaintReader | undefined>;
}

/** Records outsiders' mail that agents read, and messages that they download; at most once an hour for each. */
export class ReadingLog {
  readonly #store: MailStore;
  readonly #clock: () => number;
  readonly #meter: Meter;
  readonly #log: Log;
  /** Recorded keys with their times, oldest first. */
  readonly #recorded = new Map<string, number>();

  constructor({ store, clock, meter, log }: { store: MailStore; clock: () => number; meter: Meter; log: Log }) {
    this.#store = store;
    this.#clock = clock;
    this.#meter = meter;
    this.#log = log;
  }

  /** Resolves when the taint is on disk: the messages must not be shown before. */
  taint(reading: Reading): Promise<void> {
    return this.#once('taint', reading, async (reader, emails, now) => {
      const { account } = reading;
      const outside = await this.#store.read(outsidersMail, { ...reader, account, emails });
      if (outside.length > 0) await this.#writeTaints(reader, { account, emails: outside }, now);
      // Others may become tainted: an agent can label them.
      return outside;
    });
  }

  /** Taints the reader of text that is in no mailbox and may be an outsider's. */
  async taintByText(find: () => Promise<TaintReader | undefined>): Promise<void> {
    const now = this.#clock();
    const reader = await find();
    if (reader === undefined || this.#has(taintedKey(reader), now)) return;
    await this.#store.write(markTainted, { reader });
    this.#add(taintedKey(reader), now);
  }

  /** Records messages whose octets an agent gets, whoever wrote them: quoted content is recognized by that. */
  download(reading: Reading): Promise<void> {
    return this.#once('download', reading, async (reader, emails) => {
      await this.#store.write(recordDownloads, { reader, account: reading.account, emails });
      return emails;
    });
  }

  async #once(
    what: string,
    { key, emails, reader: find }: Reading,
    record: (reader: TaintReader, emails: readonly number[], now: number) => Promise<readonly number[]>,
  ): Promise<void> {
    const now = this.#clock();
    const isFresh = (email: number): boolean => !this.#has(`${what} ${key} ${email}`, now);
    // One is enough to look up the reader: people read whole mailboxes, and nothing of that is recorded.
    const first = emails.findIndex(isFresh);
    if (first === -1) return;
    const reader = await find();
    if (reader === undefined) return;
    const fresh = emails.slice(first).filter(isFresh);
    for (let at = 0; at < fresh.length; at += SLICE) {
      const slice = fresh.slice(at, at + SLICE);
      for (const email of await record(reader, slice, now)) this.#add(`${what} ${key} ${email}`, now);
    }
  }

  /** Does not wait if the reader is tainted already: further mail only adds explanation. */
  async #writeTaints(
    reader: TaintReader,
    read: { account: number; emails: readonly number[] },
    now: number,
  ): Promise<void> {
    const written = this.#store
      .write(recordTaints, { reader, ...read })
      .then((recorded) => this.#meter.count('agent_taints_total', {}, recorded));
    if (this.#has(taintedKey(reader), now)) {
      written.catch((error: unknown) => this.#log.warn({ err: error }, 'failed to record what an agent read'));
      return;
    }
    await written;
    this.#add(taintedKey(reader), now);
  }

  #has(key: string, now: number): boolean {
    const at = this.#recorded.get(key);
    return at !== undefined && at > now - FRESH_MS && at <= now;
  }

  #add(key: string, now: number): void {
    this.#recorded.delete(key);
    this.#recorded.set(key, now);
    if (this.#recorded.size <= MAX_ENTRIES) return;
    for (const oldest of this.#recorded.keys()) {
      this.#recorded.delete(oldest);
      if (this.#recorded.size <= MAX_ENTRIES * 0.9) return;
    }
  }
}

function taintedKey({ reader }: TaintReader): string {
  return `tainted ${reader}`;
}
