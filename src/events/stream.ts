import type { AgentMode } from '../../mail/delivery/agent/types.ts';
import type { TailLine } from '../../mail/store/journal-tail.ts';
import type { EventWriter } from '../http/event-writer.ts';
import type { Caller } from '../operations/caller.ts';
import { allowedAccounts } from '../operations/scope.ts';
import type { World } from '../operations/world.ts';
import { findToken } from '../tokens/commands.ts';
import { heldToken } from '../tokens/holds.ts';
import { numberOf } from '../waiting/arrival-queries.ts';
import { type Place, placeBehind, wasTold } from '../waiting/cursor.ts';
import type { View } from '../waiting/story.ts';
import type { Wait, Woken } from '../waiting/wait.ts';
import { happeningOf, isArrival } from './happening.ts';
import type { EventName } from './shapes.ts';

/** So often a client hears something, and how far it has come. Proxies give up after a minute. */
const HEARTBEAT_MS = 25_000;
/** A client that reads nothing for so long is cut off. */
const PATIENCE_MS = 60_000;
/** When it is over, a client has so long for what it has not read yet. */
const LAST_MS = 10_000;
/** A client comes back so soon, ms. */
const RETRY_MS = 2_000;

/** Where a stream begins, and whose it is. */
export interface Begun extends View {
  caller: Caller;
  line: number;
  place: Place;
  forgotten: boolean;
}

/** One program that is told what happens, as long as it listens. */
export class Stream {
  readonly #world: World;
  readonly #writer: EventWriter;
  readonly #wait: Wait;
  readonly #begun: Begun;
  #mode: AgentMode;
  #view: View;
  #line: number;
  #place: Place;
  /** It was told all, and waits. */
  #idle = false;

  constructor(world: World, begun: Begun, wait: Wait, writer: EventWriter) {
    this.#world = world;
    this.#begun = begun;
    this.#wait = wait;
    this.#writer = writer;
    this.#mode = begun.caller.token?.mode ?? 'normal';
    this.#view = { tenant: begun.tenant, accounts: begun.accounts };
    this.#line = begun.line;
    this.#place = begun.place;
  }

  /** Resolves when it is over. */
  async run(): Promise<void> {
    using ends = new DisposableStack();
    ends.defer(await this.#world.waits.story.follow(this.#followed(), () => this.#wait.wake('changed')));
    this.#wait.whenOver(() => this.#writer.endWithin(LAST_MS));
    this.#writer.write(`retry: ${RETRY_MS}\n`);
    this.#tell('mode', { mode: this.#mode });
    if (this.#begun.forgotten) this.#tell('gap', { message: FORGOTTEN });
    this.#writer.every(HEARTBEAT_MS, () => this.#beat());
    for (let woken: Woken = 'changed'; this.#writer.isOpen; woken = await this.#next()) {
      if (woken !== 'changed') return this.#part(woken);
    }
  }

  /** Tells what there is, and waits for more. */
  async #next(): Promise<Woken> {
    for (let more = true; more && this.#writer.isOpen && !this.#wait.isOver;) {
      if (!(await this.#mayGoOn())) return 'out';
      const tail = await this.#world.waits.story.behind(this.#view, this.#line);
      for (const line of tail.lines) await this.#tellOf(line);
      this.#line = tail.seen;
      await this.#writer.room(PATIENCE_MS);
      ({ more } = tail);
    }
    this.#idle = true;
    const woken = await this.#wait.next();
    this.#idle = false;
    return woken;
  }

  /** What happened to others is behind the client too, or it would be gone over when it comes back. */
  #beat(): void {
    if (this.#idle) this.#line = this.#world.waits.story.upTo(this.#line);
    this.#writer.event({ id: this.#cursor() });
  }

  async #tellOf(line: TailLine): Promise<void> {
    const happening = this.#isNew(line) ? await happeningOf(this.#world.store, line) : undefined;
    // Nothing may say how far the client is between here and the event itself: a beat would pass over it.
    this.#line = line.id;
    const { account, email } = line;
    if (happening === undefined) return;
    if (happening.event !== 'mail' && !this.#begun.caller.actions.has('read')) return;
    if (isArrival(line)) this.#place = placeBehind(this.#place, account ?? 0, numberOf(email ?? 0));
    this.#tell(happening.event, happening.data);
  }

  /** What a wait for mail gave already is behind the line where it left others. */
  #isNew(line: TailLine): boolean {
    const { account, email } = line;
    return !isArrival(line) || account !== this.#place.account || !wasTold(this.#place, numberOf(email ?? 0));
  }

  #tell(event: EventName, data: object): void {
    this.#world.metrics.count('events_told_total', { event });
    this.#writer.event({ event, id: this.#cursor(), data });
  }

  #cursor(): string {
    return this.#world.waits.cursors.write({ ...this.#place, line: this.#line });
  }

  /** Looks again at what the token may: it is asked before each time that something is told. */
  async #mayGoOn(): Promise<boolean> {
    const { caller, tenant } = this.#begun;
    const { store } = this.#world;
    const token = caller.token && (await heldToken(this.#world, caller.token));
    if (token === undefined) return false;
    if (token.mode !== this.#mode) {
      this.#mode = token.mode;
      this.#tell('mode', { mode: this.#mode });
    }
    if (caller.project !== null) {
      const now = await allowedAccounts({ store, tenant, caller });
      const { accounts } = this.#begun;
      this.#view = { tenant, accounts: accounts === null ? now : accounts.filter((one) => now?.includes(one) ?? true) };
    }
    return true;
  }

  /** Mailboxes come into projects and leave them. */
  #followed(): View {
    const { caller, tenant, accounts } = this.#begun;
    return { tenant, accounts: caller.project === null ? accounts : null };
  }

  /** The client comes back by itself; who may not any more is told why where that is known. */
  async #part(woken: Woken): Promise<void> {
    const id = this.#begun.caller.token?.id;
    const token = woken === 'out' && id !== undefined ? await this.#world.store.read(findToken, { id }) : undefined;
    if (token?.mode === 'frozen') this.#tell('mode', { mode: 'frozen' });
    this.#writer.end();
  }
}

const FORGOTTEN = 'The cursor is older than what this server remembers: look at what there is with list_messages.';
