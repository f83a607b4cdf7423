import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  changedSince,
  pushPosition,
  readPosition,
  type StateChange,
  type StateWatch,
} from '../../mail/jmap/push/state-watch.ts';
import { SharedStateWatch } from '../../mail/jmap/push/shared-state-watch.ts';
import type { StateType } from '../../mail/store/account/type-state.ts';
import { EventWriter } from '../http/event-writer.ts';
import type { AppContext } from '../core/app-context.ts';
import { CORS, sendProblemDetails, type JmapCaller, withCaller } from './http-exchange.ts';
import { type ConnectionCap, onSessionEnd } from './session-end.ts';
import { typesOf } from './push-types.ts';

/** Allowed ping intervals in seconds. */
const PING_SECONDS = { least: 5, most: 3_600 };
/** Interval of comments without pings, to detect dead connections. */
const HEARTBEAT_MS = 60_000;

interface EventSourceQuery {
  types: ReadonlySet<StateType> | null;
  closeAfterState: boolean;
  /** Seconds; 0 for none. */
  ping: number;
}

/** `GET /jmap/eventsource?types=*&closeafter=no&ping=60`. RFC 8620 7.3. */
export function eventSourceRoute(
  context: AppContext,
  watch: StateWatch,
  streams: ConnectionCap,
  app: FastifyInstance,
): void {
  app.get(
    '/jmap/eventsource',
    { exposeHeadRoute: false },
    withCaller(context, async (caller, request, reply) => {
      const query = readQuery(request.query as Record<string, unknown>);
      if (typeof query === 'string') return sendProblemDetails(reply, 400, query);
      const writer = new EventWriter(reply, CORS);
      await new EventStream(context, watch, query, caller, request, writer).open(streams);
      return reply;
    }),
  );
}

function readQuery(query: Record<string, unknown>): EventSourceQuery | string {
  const { types, closeafter, ping } = query;
  if (typeof types !== 'string' || types === '') return '"types" is missing. Use types=* or types=Email,Mailbox.';
  if (closeafter !== 'state' && closeafter !== 'no') return '"closeafter" must be "state" or "no".';
  if (typeof ping !== 'string' || !/^\d{1,9}$/.test(ping)) return '"ping" must be a number of seconds; 0 for none.';
  const seconds = Number(ping);
  return {
    types: typesOf(types),
    closeAfterState: closeafter === 'state',
    ping: seconds === 0 ? 0 : Math.min(PING_SECONDS.most, Math.max(PING_SECONDS.least, seconds)),
  };
}

/** One open event stream. */
class EventStream {
  readonly #context: AppContext;
  readonly #watch: StateWatch;
  readonly #shared: SharedStateWatch;
  readonly #query: EventSourceQuery;
  readonly #caller: JmapCaller;
  readonly #request: FastifyRequest;
  readonly #writer: EventWriter;
  readonly #accounts: ReadonlyMap<string, number>;

  constructor(
    context: AppContext,
    watch: StateWatch,
    query: EventSourceQuery,
    caller: JmapCaller,
    request: FastifyRequest,
    writer: EventWriter,
  ) {
    this.#context = context;
    this.#watch = watch;
    this.#shared = new SharedStateWatch(context.store, context.log);
    this.#query = query;
    this.#caller = caller;
    this.#request = request;
    this.#writer = writer;
    this.#accounts = new Map([...caller.session.accounts].map(([id, { account }]) => [id, account]));
  }

  async open(streams: ConnectionCap): Promise<void> {
    const end = (): void => this.#writer.end();
    this.#writer.onClose(streams.add(this.#caller.session.credential, end));
    this.#beat();
    this.#writer.onClose(onSessionEnd(this.#context, this.#request, this.#caller, end));
    await this.#begin().catch((error: unknown) => {
      this.#context.log.error({ err: error }, 'failed to start an event source');
      this.#writer.cutOff();
    });
  }

  async #begin(): Promise<void> {
    const { types } = this.#query;
    const notify = (change: StateChange): void => this.#notifySafely(change);
    this.#writer.onClose(await this.#watch.add({ accounts: this.#accounts, types, notify }));
    const { sharing: login } = this.#caller.session;
    if (login !== undefined) this.#writer.onClose(await this.#shared.add({ login, types, notify }));
    await this.#catchUp();
  }

  /** Sends the changes since the client's last event. */
  async #catchUp(): Promise<void> {
    const last = this.#request.headers['last-event-id'];
    const since = typeof last === 'string' ? readPosition(last) : undefined;
    if (since === undefined) return;
    const change = changedSince(await this.#watch.states(this.#accounts), since, this.#query.types);
    if (change !== undefined) await this.#notify(change);
    // Positions have the own accounts only.
    const { sharing: login } = this.#caller.session;
    const shared = login && (await this.#shared.states({ login, types: this.#query.types }));
    if (shared !== undefined) await this.#notify(shared);
  }

  /** Closes the stream on failure: the client reconnects with its last position. */
  #notifySafely(change: StateChange): void {
    this.#notify(change).catch((error: unknown) => {
      this.#context.log.error({ err: error }, 'failed to send a change to an event source');
      this.#writer.cutOff();
    });
  }

  async #notify(change: StateChange): Promise<void> {
    const id = pushPosition(await this.#watch.states(this.#accounts));
    this.#writer.event({ event: 'state', id, data: change });
    if (this.#query.closeAfterState) this.#writer.end();
  }

  /** Sends pings that state the effective interval. */
  #beat(): void {
    const { ping } = this.#query;
    if (ping === 0) this.#writer.every(HEARTBEAT_MS, () => this.#writer.write(':\n\n'));
    else this.#writer.every(ping * 1000, () => this.#writer.event({ event: 'ping', data: { interval: ping } }));
  }
}
