import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pushPosition, readPosition } from '../../mail/jmap/push/push-state.ts';
import { changedSince, type StateChange, type StateWatch } from '../../mail/jmap/push/watch.ts';
import type { StateType } from '../../mail/store/type-state.ts';
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
/** A client that reads nothing while so much waits for it is cut off; it comes back and asks what it missed. */
const MOST_WAITING_BYTES = 256 * 1024;

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
      reply.hijack();
      reply.raw.writeHead(200, {
        ...CORS,
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        // A stream that ends takes its connection along.
        connection: 'close',
        'x-accel-buffering': 'no',
      });
      reply.raw.write(': Mailstead\n\n');
      await new EventStream(world, watch, asked, caller, request, reply).open(crowd);
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
  readonly #reply: FastifyReply;
  readonly #accounts: ReadonlyMap<string, number>;
  readonly #ends: (() => void)[] = [];

  constructor(world: World, watch: StateWatch, asked: Asked, caller: In, request: FastifyRequest, reply: FastifyReply) {
    this.#world = world;
    this.#watch = watch;
    this.#asked = asked;
    this.#caller = caller;
    this.#request = request;
    this.#reply = reply;
    this.#accounts = new Map([...caller.session.accounts].map(([id, { account }]) => [id, account]));
  }

  async open(crowd: Crowd): Promise<void> {
    const end = (): void => void this.#reply.raw.end();
    this.#reply.raw.on('close', () => {
      for (const one of this.#ends.splice(0)) one();
    });
    this.#ends.push(crowd.enter(this.#caller.session.credential, end), this.#beat());
    this.#ends.push(whenOut(this.#world, this.#request, this.#caller, end));
    await this.#begin().catch((error: unknown) => {
      this.#world.log.error({ err: error }, 'an event source could not begin');
      this.#reply.raw.destroy();
    });
  }

  async #begin(): Promise<void> {
    const { types } = this.#asked;
    const stop = await this.#watch.add({ accounts: this.#accounts, types, tell: (change) => this.#tellSoon(change) });
    if (this.#reply.raw.closed) stop();
    else this.#ends.push(stop);
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
      this.#reply.raw.destroy();
    });
  }

  async #tell(change: StateChange): Promise<void> {
    const position = pushPosition(await this.#watch.states(this.#accounts));
    const id = position === undefined ? '' : `id: ${position}\n`;
    this.#write(`event: state\n${id}data: ${JSON.stringify(change)}\n\n`);
    if (this.#asked.closeAfterState) this.#reply.raw.end();
  }

  /** Pings with the interval that is really kept. */
  #beat(): () => void {
    const { ping } = this.#asked;
    const line = ping === 0 ? ':\n\n' : `event: ping\ndata: {"interval":${ping}}\n\n`;
    const timer = setInterval(() => this.#write(line), ping === 0 ? HEARTBEAT_MS : ping * 1000).unref();
    return () => clearInterval(timer);
  }

  #write(text: string): void {
    const { raw } = this.#reply;
    if (raw.writableEnded || raw.destroyed) return;
    if (raw.writableLength > MOST_WAITING_BYTES) raw.destroy();
    else raw.write(text);
  }
}
