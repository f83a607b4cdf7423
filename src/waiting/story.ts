import { setImmediate as turn } from 'node:timers/promises';
import type { Log } from '../../mail/log.ts';
import { journalEnds, linesBehind, type Tail, type TailLine } from '../../mail/store/journal-tail.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { Turnstile } from '../webhooks/turnstile.ts';

/** What follows closely is read together. */
const COALESCE_MS = 30;
/** After trouble of the store it is asked again: perhaps nothing else comes for hours. */
const AGAIN_MS = 1_000;
/** Lines of one tenant at hand, for those who are nearly up to date. */
const KEPT = 200;
/** Lines of one answer. */
const PAGE = 100;
/** Those who come back after a while are answered from the disk: so many at the same time. */
const CATCHING_UP = 4;

/** Of whose mail somebody is told; no accounts: of all, and of what no mailbox sends. */
export interface View {
  tenant: number;
  accounts: readonly number[] | null;
}

type Tell = (lines: readonly TailLine[]) => void;

/** A tenant that somebody follows, and every line of it behind `from`. */
interface Followed {
  tells: Set<Tell>;
  from: number;
  lines: TailLine[];
}

/**
 * What happens to messages, for everybody who follows it: after a commit one read serves them all. While nobody does
 * nothing is read.
 */
export class Story implements Disposable {
  readonly #store: MailStore;
  readonly #log: Log;
  readonly #end: () => void;
  readonly #followed = new Map<number, Followed>();
  readonly #catchingUp = new Turnstile(CATCHING_UP);
  /** The last line that was read; undefined: nobody follows anything. */
  #seen: number | undefined;
  #soon: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(store: MailStore, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#end = store.onWakeUp(({ account }) => {
      if (account === 0) this.#lookSoon();
    });
  }

  /** Calls back with what happens in a view from now on, soon after it does. Answers what ends that. */
  async follow(view: View, tell: Tell): Promise<() => void> {
    const { newest } = await this.#store.read(journalEnds, undefined);
    this.#seen ??= newest;
    const followed = this.#followed.get(view.tenant) ?? { tells: new Set(), from: this.#seen, lines: [] };
    const heard: Tell = (lines) => {
      const seen = lines.filter((line) => isSeen(line, view));
      if (seen.length > 0) tell(seen);
    };
    followed.tells.add(heard);
    this.#followed.set(view.tenant, followed);
    // What came since the newest line was asked for woke nobody.
    this.#lookSoon();
    return () => this.#leave(view.tenant, followed, heard);
  }

  /** What a view has behind a line, a page of it at most. */
  async behind(view: View, after: number): Promise<Tail> {
    const followed = this.#followed.get(view.tenant);
    if (followed === undefined || after < followed.from) {
      using _turn = await this.#catchingUp.pass();
      return await this.#store.scan(linesBehind, { ...view, after, limit: PAGE });
    }
    const lines = followed.lines.filter((line) => line.id > after && isSeen(line, view)).slice(0, PAGE);
    const last = lines.length === PAGE ? lines.at(-1) : undefined;
    return { lines, seen: last?.id ?? Math.max(after, this.#seen ?? 0), more: last !== undefined };
  }

  /** How far somebody is who follows a tenant, was told of all of it up to `line`, and waits for more. */
  upTo(line: number): number {
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

  #leave(tenant: number, followed: Followed, tell: Tell): void {
    followed.tells.delete(tell);
    if (followed.tells.size === 0 && this.#followed.get(tenant) === followed) this.#followed.delete(tenant);
    if (this.#followed.size === 0) this.#rest();
  }

  #lookSoon(ms = COALESCE_MS): void {
    if (this.#followed.size > 0) this.#soon ??= setTimeout(() => this.#look(), ms);
  }

  #look(): void {
    this.#soon = undefined;
    this.#reading = this.#reading
      .then(() => this.#read())
      .catch((error: unknown) => {
        this.#log.warn({ err: error }, 'what happened to messages could not be read');
        this.#lookSoon(AGAIN_MS);
      });
  }

  async #read(): Promise<void> {
    for (let more = true; more && this.#seen !== undefined; await turn()) {
      const after = this.#seen;
      const tail = await this.#store.read(linesBehind, { tenant: null, accounts: null, after, limit: PAGE });
      // All have left meanwhile, and others may have come.
      if (this.#seen !== after) return;
      this.#seen = tail.seen;
      this.#tell(tail.lines);
      ({ more } = tail);
    }
  }

  #tell(lines: readonly TailLine[]): void {
    for (const [tenant, own] of Map.groupBy(lines, (line) => line.tenant)) {
      const followed = tenant === null ? undefined : this.#followed.get(tenant);
      if (followed === undefined) continue;
      followed.lines.push(...own);
      const gone = followed.lines.splice(0, Math.max(0, followed.lines.length - KEPT));
      followed.from = gone.at(-1)?.id ?? followed.from;
      for (const tell of followed.tells) tell(own);
    }
  }
}

function isSeen({ tenant, account }: TailLine, view: View): boolean {
  if (tenant !== view.tenant) return false;
  return view.accounts === null || (account !== null && view.accounts.includes(account));
}
