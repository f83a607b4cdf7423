import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { RequestError } from '../../mail/jmap/errors.ts';
import { readJson } from '../../mail/jmap/json.ts';
import type { JmapDesk } from '../../mail/jmap/method.ts';
import { pushPosition, readPosition } from '../../mail/jmap/push/push-state.ts';
import { changedSince, type StateChange, type StateWatch } from '../../mail/jmap/push/watch.ts';
import { readRequest } from '../../mail/jmap/request.ts';
import type { StateType } from '../../mail/store/type-state.ts';
import type { World } from '../operations/world.ts';
import { answerRequest } from './answer-request.ts';
import { problem } from './answers.ts';
import type { AtOnce } from './at-once.ts';
import type { Crowd } from './crowd.ts';
import { namedTypes } from './push-types.ts';
import { whenOut } from './still-in.ts';
import { type In, withCaller } from './with-caller.ts';

const PING_MS = 60_000;
/** For a client to answer a close, when the process stops. */
const GOODBYE_MS = 1_000;
/** A client that reads nothing while so much waits for it is cut off. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
/** Messages that one client may have sent before the first is answered. */
const MOST_WAITING = 32;

/** What the sockets share. */
export interface SocketDesk {
  world: World;
  desk: JmapDesk;
  watch: StateWatch;
  crowd: Crowd;
  atOnce: AtOnce;
  /** Capabilities that `using` may name. */
  known: ReadonlySet<string>;
}

/** `/jmap/ws`, subprotocol "jmap". RFC 8887. Who asks is settled before the upgrade. */
export function webSocketRoute(shared: SocketDesk, app: FastifyInstance): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: shared.desk.limits.maxSizeRequest,
    handleProtocols: () => 'jmap',
    autoPong: false,
  });
  const upgrades = routeUpgrades(app);
  // The server waits for their connections before its own onClose.
  app.addHook('preClose', async () => {
    for (const socket of sockets.clients) {
      socket.close(1001, 'the server stops');
      // One that does not hear it must not hold up the stop.
      setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
    }
  });
  app.get(
    '/jmap/ws',
    withCaller(shared.world, async (caller, request, reply) => {
      const upgrade = upgrades.get(request.raw);
      if (upgrade === undefined) return problem(reply.header('upgrade', 'websocket'), 426, 'Open a WebSocket here.');
      const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',');
      if (!offered.some((one) => one.trim() === 'jmap')) {
        return problem(reply, 400, 'Offer the subprotocol "jmap" (RFC 8887 4.1).');
      }
      reply.hijack();
      upgrade.release();
      sockets.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) => {
        new JmapSocket(shared, socket, caller, request).open();
      });
      return reply;
    }),
  );
}

interface Upgrade {
  socket: Duplex;
  head: Buffer;
  /** The answer is no longer HTTP. */
  release(): void;
}

/** Sends upgrade requests through the routes like all others, so that one place knows who asks. */
function routeUpgrades(app: FastifyInstance): WeakMap<IncomingMessage, Upgrade> {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>();
  // To all others, such as those who offer h2c with a POST, the answer is plain HTTP: an upgrade has no body.
  const shouldUpgradeCallback = ({ method, url = '' }: IncomingMessage): boolean =>
    method === 'GET' && url.split('?', 1)[0] === '/jmap/ws';
  Object.assign(app.server, { shouldUpgradeCallback });
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(request);
    const drop = (): void => void socket.destroy();
    // Who was refused and never closes its side would keep the socket: no timeout of HTTP sees it any more.
    const end = (): void => request.socket.destroySoon();
    socket.on('error', drop);
    response.on('finish', end);
    response.assignSocket(request.socket);
    const release = (): void => {
      socket.off('error', drop);
      response.off('finish', end).detachSocket(request.socket);
    };
    upgrades.set(request, { socket, head, release });
    app.routing(request, response);
  });
  return upgrades;
}

/** One open connection: requests as they come, answers as they are ready, and what changes once it was asked for. */
class JmapSocket {
  readonly #shared: SocketDesk;
  readonly #socket: WebSocket;
  readonly #caller: In;
  readonly #request: FastifyRequest;
  readonly #accounts: ReadonlyMap<string, number>;
  #stopPush: (() => void) | undefined;
  #alive = true;
  #waiting = 0;

  constructor(shared: SocketDesk, socket: WebSocket, caller: In, request: FastifyRequest) {
    this.#shared = shared;
    this.#socket = socket;
    this.#caller = caller;
    this.#request = request;
    this.#accounts = new Map([...caller.session.accounts].map(([id, { account }]) => [id, account]));
  }

  open(): void {
    const { world, crowd } = this.#shared;
    const socket = this.#socket;
    const leave = crowd.enter(this.#caller.session.credential, () =>
      socket.close(1008, 'another client took this place'),
    );
    const unwatch = whenOut(world, this.#request, this.#caller, () =>
      socket.close(1008, 'the credential holds no more'),
    );
    const timer = setInterval(() => this.#ping(), PING_MS).unref();
    // Who pings and reads nothing would have pongs heap up.
    socket.on('ping', (data) => socket.bufferedAmount === 0 && socket.pong(data));
    socket.on('pong', () => {
      this.#alive = true;
    });
    socket.on('message', (data, binary) => {
      if (binary) socket.close(1003, 'text messages only');
      else if (this.#waiting >= MOST_WAITING) socket.close(1008, 'too many requests at once');
      else
        void this.#heard(
          Buffer.isBuffer(data) ? data : Buffer.concat([data].flat().map((one) => Buffer.from(one as ArrayBuffer))),
        );
    });
    // The close that follows is what counts.
    socket.on('error', (error) => this.#shared.desk.log.debug({ err: error }, 'a JMAP socket failed'));
    socket.on('close', () => {
      clearInterval(timer);
      this.#stopPush?.();
      unwatch();
      leave();
    });
  }

  async #heard(octets: Buffer): Promise<void> {
    this.#waiting++;
    let requestId: string | undefined;
    try {
      const message = readMessage(octets);
      requestId = message.id;
      await this.#act(message);
    } catch (error) {
      this.#say({ '@type': 'RequestError', ...(requestId !== undefined && { requestId }), ...this.#problemOf(error) });
    } finally {
      this.#waiting--;
    }
  }

  #problemOf(error: unknown): Record<string, unknown> {
    if (error instanceof RequestError) return error.toProblem();
    this.#shared.desk.log.error({ err: error }, 'a JMAP request over a socket failed');
    return { type: 'about:blank', status: 500, detail: 'Something went wrong here; it was logged.' };
  }

  async #act({ type, id, value }: Message): Promise<void> {
    switch (type) {
      case 'Request':
        return this.#answer(value, id);
      case 'WebSocketPushEnable':
        return this.#enablePush(value);
      case 'WebSocketPushDisable':
        this.#stopPush?.();
        this.#stopPush = undefined;
        return;
      default:
        throw new RequestError(
          'notRequest',
          'The message has no "@type" of RFC 8887: Request, WebSocketPushEnable, ...',
        );
    }
  }

  async #answer(value: Record<string, unknown>, requestId: string | undefined): Promise<void> {
    const { desk, atOnce, known } = this.#shared;
    using place = atOnce.enter(this.#caller.session.credential);
    if (place === undefined) {
      const most = `At most ${desk.limits.maxConcurrentRequests} requests at once: wait for one to end.`;
      throw new RequestError('limit', most, 'maxConcurrentRequests');
    }
    const answer = await answerRequest(desk, this.#caller.session, readRequest(value, known, desk.limits));
    this.#say({ '@type': 'Response', ...(requestId !== undefined && { requestId }), ...answer });
  }

  /** A second one replaces the first. With a pushState of before, what changed since is told at once. */
  async #enablePush({ dataTypes, pushState }: Record<string, unknown>): Promise<void> {
    const named = Array.isArray(dataTypes) ? dataTypes.filter((one): one is string => typeof one === 'string') : null;
    const types = named === null ? null : namedTypes(named);
    const { watch } = this.#shared;
    const stop = await watch.add({ accounts: this.#accounts, types, tell: (change) => this.#tellSoon(change) });
    // Another one may have been faster.
    this.#stopPush?.();
    this.#stopPush = stop;
    if (this.#socket.readyState !== this.#socket.OPEN) stop();
    await this.#catchUp(typeof pushState === 'string' ? readPosition(pushState) : undefined, types);
  }

  async #catchUp(since: Map<string, number> | undefined, types: ReadonlySet<StateType> | null): Promise<void> {
    if (since === undefined) return;
    const change = changedSince(await this.#shared.watch.states(this.#accounts), since, types);
    if (change !== undefined) await this.#tell(change);
  }

  #tellSoon(change: StateChange): void {
    this.#tell(change).catch((error: unknown) => {
      this.#shared.desk.log.error({ err: error }, 'a change could not be told over a socket');
      this.#socket.terminate();
    });
  }

  async #tell(change: StateChange): Promise<void> {
    const pushState = pushPosition(await this.#shared.watch.states(this.#accounts));
    this.#say({ ...change, ...(pushState !== undefined && { pushState }) });
  }

  #say(message: object): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MOST_WAITING_BYTES) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(message));
  }

  #ping(): void {
    if (!this.#alive) this.#socket.terminate();
    this.#alive = false;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }
}

interface Message {
  type: unknown;
  id: string | undefined;
  /** Without the members of RFC 8887. */
  value: Record<string, unknown>;
}

function readMessage(octets: Uint8Array): Message {
  const value = readJson(octets);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RequestError('notRequest', 'The message is not an object.');
  }
  const { '@type': type, id, ...rest } = value as Record<string, unknown>;
  return { type, id: typeof id === 'string' ? id : undefined, value: rest };
}
