import type { FastifyInstance, FastifyRequest } from 'fastify';
import { pushPosition, readPosition } from '../../mail/jmap/push/push-state.ts';
import { changedSince, type StateChange, type StateWatch } from '../../mail/jmap/push/watch.ts';
import type { StateType } from '../../mail/store/type-state.ts';
import { EventWriter } from '../http/event-writer.ts';
import type { World } from '../operations/world.ts';
import { CORS, problem } from './answers.ts';
import type { Crowd } from './crowd.ts';
import { typesOf } from './push-types.ts';
import { whenOut } from './still-in.ts';
import { type In, withCaller } from './with-caller.ts';

/** Seconds between pings that a client may ask for. */
const PINGS = { least: 5, most: 3_600 };
/** Without pings a comment goes out so often, or a connection that is gone would never be seen to be. */
const HEARTBEAT_MS = 60_000;

interface Asked {
  types: ReadonlySet<StateType> | null;
  closeAfterState: boolean;
  /** Seconds; 0: none. */
  ping: number;
}

/** `GET /jmap/eventsource?types=*&closeafter=no&ping=60`. RFC 8620 7.3. */
export function eventSourceRoute(world: World, watch: StateWatch, crowd: Crowd, app: FastifyInstance): void {
  app.get(
    '/jmap/eventsource',
    { exposeHeadRoute: false },
    withCaller(world, async (caller, request, reply) => {
      const asked = readQuery(request.query as Record<string, unknown>);
      if (typeof asked === 'string') return problem(reply, 400, asked);
      const writer = new EventWriter(reply, CORS);
      await new EventStream(world, watch, asked, caller, request, writer).open(crowd);
      return reply;
    }),
  );
}

function readQuery(query: Record<string, unknown>): Asked | string {
  const { types, closeafter, ping } = query;
  if (typeof types !== 'string' || types === '') return 'Say which types: types=* or types=Email,Mailbox.';
  if (closeafter !== 'state' && closeafter !== 'no') return 'closeafter is "state" or "no".';
  if (typeof ping !== 'string' || !/^\d{1,9}$/.test(ping)) return 'ping is a number of seconds; 0 for none.';
  const seconds = Number(ping);
  return {
    types: typesOf(types),
    closeAfterState: closeafter === 'state',
    ping: seconds === 0 ? 0 : Math.min(PINGS.most, Math.max(PINGS.least, seconds)),
  };
}

/** One open connection. */
class EventStream {
  readonly #world: World;
  readonly #watch: StateWatch;
  readonly #asked: Asked;
  readonly #caller: In;
  readonly #request: FastifyRequest;
  readonly #writer: EventWriter;
  readonly #accounts: ReadonlyMap<string, number>;

  constructor(world: World, watch: StateWatch, asked: Asked, caller: In, request: FastifyRequest, writer: EventWriter) {
    this.#world = world;
    this.#watch = watch;
    this.#asked = asked;
    this.#caller = caller;
    this.#request = request;
    this.#writer = writer;
    this.#accounts = new Map([...caller.session.accounts].map(([id, { account }]) => [id, account]));
  }

  async open(crowd: Crowd): Promise<void> {
    const end = (): void => this.#writer.end();
    this.#writer.onClose(crowd.enter(this.#caller.session.credential, end));
    this.#beat();
    this.#writer.onClose(whenOut(this.#world, this.#request, this.#caller, end));
    await this.#begin().catch((error: unknown) => {
      this.#world.log.error({ err: error }, 'an event source could not begin');
      this.#writer.cutOff();
    });
  }

  async #begin(): Promise<void> {
    const { types } = this.#asked;
    const tell = (change: StateChange): void => this.#tellSoon(change);
    this.#writer.onClose(await this.#watch.add({ accounts: this.#accounts, types, tell }));
    await this.#catchUp();
  }

  /** Tells what changed while the client was away. */
  async #catchUp(): Promise<void> {
    const last = this.#request.headers['last-event-id'];
    const since = typeof last === 'string' ? readPosition(last) : undefined;
    if (since === undefined) return;
    const change = changedSince(await this.#watch.states(this.#accounts), since, this.#asked.types);
    if (change !== undefined) await this.#tell(change);
  }

  /** A client that was not told comes back with the position that it has. */
  #tellSoon(change: StateChange): void {
    this.#tell(change).catch((error: unknown) => {
      this.#world.log.error({ err: error }, 'a change could not be told to an event source');
      this.#writer.cutOff();
    });
  }

  async #tell(change: StateChange): Promise<void> {
    const id = pushPosition(await this.#watch.states(this.#accounts));
    this.#writer.event({ event: 'state', id, data: change });
    if (this.#asked.closeAfterState) this.#writer.end();
  }

  /** Pings with the interval that is really kept. */
  #beat(): void {
    const { ping } = this.#asked;
    if (ping === 0) this.#writer.every(HEARTBEAT_MS, () => this.#writer.write(':\n\n'));
    else this.#writer.every(ping * 1000, () => this.#writer.event({ event: 'ping', data: { interval: ping } }));
  }
}
