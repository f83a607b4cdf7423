import type { AgentMode } from '../../../mail/agents/gate/types.ts';
import type { JournalTailLine } from '../../../mail/store/journal/journal-tail.ts';
import type { AppContext } from '../../core/app-context.ts';
import type { Caller } from '../../core/caller.ts';
import type { JournalView, MailboxPosition, PendingWait, WakeReason } from '../../core/mail-waits.ts';
import { streamEventOf, isArrival } from '../../events/stream-event.ts';
import type { EventName } from '../../events/event-schemas.ts';
import type { EventWriter } from '../event-writer.ts';
import { allowedAccounts } from '../../operations/scope.ts';
import { findToken } from '../../tokens/commands.ts';
import { currentToken } from '../../tokens/token-validity.ts';
import { numberOf } from '../../waiting/arrival-queries.ts';
import { positionAfterArrival, wasReported } from '../../waiting/cursor.ts';

/** Interval of heartbeats, which carry the cursor. Proxies close idle connections after a minute. */
const HEARTBEAT_MS = 25_000;
/** Disconnects a client that reads nothing for this long. */
const DRAIN_TIMEOUT_MS = 60_000;
/** Time for the client to read the rest when the stream ends. */
const END_TIMEOUT_MS = 10_000;
/** Reconnection time of the client, ms. */
const RETRY_MS = 2_000;

/** Caller, view and start position of a stream. */
export interface StreamStart extends JournalView {
  caller: Caller;
  line: number;
  place: MailboxPosition;
  forgotten: boolean;
}

/** Server-sent events to one client. */
export class EventStream {
  readonly #context: AppContext;
  readonly #writer: EventWriter;
  readonly #wait: PendingWait;
  readonly #start: StreamStart;
  #mode: AgentMode;
  #view: JournalView;
  #line: number;
  #place: MailboxPosition;
  /** True while all events are sent. */
  #idle = false;

  constructor(context: AppContext, begun: StreamStart, wait: PendingWait, writer: EventWriter) {
    this.#context = context;
    this.#start = begun;
    this.#wait = wait;
    this.#writer = writer;
    this.#mode = begun.caller.token?.mode ?? 'normal';
    this.#view = { tenant: begun.tenant, accounts: begun.accounts };
    this.#line = begun.line;
    this.#place = begun.place;
  }

  /** Resolves when the stream ends. */
  async run(): Promise<void> {
    using ends = new DisposableStack();
    ends.defer(await this.#context.waits.journal.follow(this.#followedView(), () => this.#wait.wake('changed')));
    this.#wait.onOver(() => this.#writer.endWithin(END_TIMEOUT_MS));
    this.#writer.write(`retry: ${RETRY_MS}\n`);
    this.#send('mode', { mode: this.#mode });
    if (this.#start.forgotten) this.#send('gap', { message: CURSOR_TOO_OLD });
    this.#writer.every(HEARTBEAT_MS, () => this.#sendHeartbeat());
    for (let woken: WakeReason = 'changed'; this.#writer.isOpen; woken = await this.#next()) {
      if (woken !== 'changed') return this.#end(woken);
    }
  }

  /** Sends all new events, then waits for more. */
  async #next(): Promise<WakeReason> {
    for (let more = true; more && this.#writer.isOpen && !this.#wait.isOver;) {
      if (!(await this.#recheckToken())) return 'out';
      const tail = await this.#context.waits.journal.readAfter(this.#view, this.#line);
      for (const line of tail.lines) await this.#sendLine(line);
      this.#line = tail.seen;
      await this.#writer.drained(DRAIN_TIMEOUT_MS);
      ({ more } = tail);
    }
    this.#idle = true;
    const woken = await this.#wait.next();
    this.#idle = false;
    return woken;
  }

  /** Sends a heartbeat. Advances past events of others, so that a reconnect does not scan them again. */
  #sendHeartbeat(): void {
    if (this.#idle) this.#line = this.#context.waits.journal.positionAfter(this.#line);
    this.#writer.event({ id: this.#cursor() });
  }

  async #sendLine(line: JournalTailLine): Promise<void> {
    const happening = this.#isNew(line) ? await streamEventOf(this.#context.store, line) : undefined;
    // No await from here to the event: a heartbeat in between would advance the cursor past it.
    this.#line = line.id;
    const { account, email } = line;
    if (happening === undefined) return;
    if (happening.event !== 'mail' && !this.#start.caller.actions.has('read')) return;
    if (isArrival(line)) this.#place = positionAfterArrival(this.#place, account ?? 0, numberOf(email ?? 0));
    this.#send(happening.event, happening.data);
  }

  /** False for mail that an earlier wait_for_email already returned. */
  #isNew(line: JournalTailLine): boolean {
    const { account, email } = line;
    return !isArrival(line) || account !== this.#place.account || !wasReported(this.#place, numberOf(email ?? 0));
  }

  #send(event: EventName, data: object): void {
    this.#context.metrics.count('events_sent_total', { event });
    this.#writer.event({ event, id: this.#cursor(), data });
  }

  #cursor(): string {
    return this.#context.waits.cursors.write({ ...this.#place, line: this.#line });
  }

  /** Rechecks the token before each batch of events. */
  async #recheckToken(): Promise<boolean> {
    const { caller, tenant } = this.#start;
    const { store } = this.#context;
    const token = caller.token && (await currentToken(this.#context, caller.token));
    if (token === undefined) return false;
    if (token.mode !== this.#mode) {
      this.#mode = token.mode;
      this.#send('mode', { mode: this.#mode });
    }
    if (caller.project !== null) {
      const now = await allowedAccounts({ store, tenant, caller });
      const { accounts } = this.#start;
      this.#view = { tenant, accounts: accounts === null ? now : accounts.filter((one) => now?.includes(one) ?? true) };
    }
    return true;
  }

  /** View to follow; all mailboxes for project tokens, as projects change. */
  #followedView(): JournalView {
    const { caller, tenant, accounts } = this.#start;
    return { tenant, accounts: caller.project === null ? accounts : null };
  }

  /** Ends the stream; the client reconnects by itself. Reports a frozen token. */
  async #end(woken: WakeReason): Promise<void> {
    const id = this.#start.caller.token?.id;
    const token = woken === 'out' && id !== undefined ? await this.#context.store.read(findToken, { id }) : undefined;
    if (token?.mode === 'frozen') this.#send('mode', { mode: 'frozen' });
    this.#writer.end();
  }
}

const CURSOR_TOO_OLD = 'The cursor is too old. Read the current state with list_messages.';
