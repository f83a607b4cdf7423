import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { networkOf } from '../../mail/guard/network.ts';
import type { MemoryReservation } from '../../mail/limits/memory-budget.ts';
import { RequestError } from '../../mail/jmap/core/errors.ts';
import { readJson } from '../../mail/jmap/core/json.ts';
import type { JmapContext } from '../../mail/jmap/core/method.ts';
import {
  changedSince,
  pushPosition,
  readPosition,
  type StateChange,
  type StateWatch,
} from '../../mail/jmap/push/state-watch.ts';
import { readRequest } from '../../mail/jmap/core/request.ts';
import type { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import type { StateType } from '../../mail/store/account/type-state.ts';
import type { AppContext } from '../core/app-context.ts';
import { hasRequests } from '../http/request-queue.ts';
import { runJmapRequest } from './request-loader.ts';
import { problem, type JmapCaller, withCaller } from './http-exchange.ts';
import { type ConnectionCap, onSessionEnd } from './session-end.ts';
import { namedTypes } from './push-types.ts';

const PING_MS = 60_000;
/** Time for clients to answer a close at shutdown. */
const CLOSE_TIMEOUT_MS = 1_000;
/** Maximum unsent octets; a client that does not read is disconnected. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** Maximum unanswered messages of one client. */
const MAX_PENDING_REQUESTS = 32;

const NO_MEMORY = 'The server has no memory left for this request. Try again later.';

/** State that all sockets share. */
export interface SocketContext {
  context: AppContext;
  jmap: JmapContext;
  watch: StateWatch;
  sockets: ConnectionCap;
  requests: KeyedSemaphore<'credential'>;
  /** Capabilities that `using` may name. */
  known: ReadonlySet<string>;
}

/** `/jmap/ws`, subprotocol "jmap". RFC 8887. Authenticates before the upgrade. */
export function webSocketRoute(shared: SocketContext, app: FastifyInstance): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: shared.jmap.limits.maxSizeRequest,
    handleProtocols: () => 'jmap',
    autoPong: false,
  });
  const upgrades = routeUpgrades(app);
  // In preClose: the server waits for connections before onClose.
  app.addHook('preClose', async () => {
    for (const socket of sockets.clients) {
      socket.close(1001, 'server shutting down');
      // A client that does not answer must not delay the shutdown.
      setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
    }
  });
  app.get(
    '/jmap/ws',
    withCaller(shared.context, async (caller, request, reply) => {
      const upgrade = upgrades.get(request.raw);
      if (upgrade === undefined)
        return problem(reply.header('upgrade', 'websocket'), 426, 'This endpoint needs a WebSocket upgrade.');
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
  /** Detaches the HTTP response from the socket. */
  release(): void;
}

/** Routes upgrade requests like other requests, so that authentication is shared. */
function routeUpgrades(app: FastifyInstance): WeakMap<IncomingMessage, Upgrade> {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>();
  // Other upgrade offers, such as h2c with a POST, are answered as plain HTTP: an upgrade request has no body. So is one
  // that is pipelined behind another request: the socket still belongs to that one's response (RFC 9110 7.8).
  const shouldUpgradeCallback = ({ method, url = '', socket }: IncomingMessage): boolean =>
    method === 'GET' && url.split('?', 1)[0] === '/jmap/ws' && !hasRequests(socket);
  Object.assign(app.server, { shouldUpgradeCallback });
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(request);
    if (!hasAssigned(response, request)) return;
    const drop = (): void => void socket.destroy();
    // Closes refused sockets: HTTP timeouts no longer apply to them.
    const end = (): void => request.socket.destroySoon();
    socket.on('error', drop);
    response.on('finish', end);
    const release = (): void => {
      socket.off('error', drop);
      response.off('finish', end).detachSocket(request.socket);
    };
    upgrades.set(request, { socket, head, release });
    app.routing(request, response);
  });
  return upgrades;
}

/** Gives the socket to the response; closes it if Node still answers an earlier request there, as 417 or without a Host. */
function hasAssigned(response: ServerResponse, { socket }: IncomingMessage): boolean {
  try {
    response.assignSocket(socket);
    return true;
  } catch {
    socket.destroy();
    return false;
  }
}

/** One open WebSocket: handles requests concurrently and sends state changes once push is enabled. */
class JmapSocket {
  readonly #shared: SocketContext;
  readonly #socket: WebSocket;
  readonly #caller: JmapCaller;
  readonly #request: FastifyRequest;
  readonly #accounts: ReadonlyMap<string, number>;
  #stopPush: (() => void) | undefined;
  #alive = true;
  #pending = 0;

  constructor(shared: SocketContext, socket: WebSocket, caller: JmapCaller, request: FastifyRequest) {
    this.#shared = shared;
    this.#socket = socket;
    this.#caller = caller;
    this.#request = request;
    this.#accounts = new Map([...caller.session.accounts].map(([id, { account }]) => [id, account]));
  }

  open(): void {
    const { context, sockets } = this.#shared;
    const socket = this.#socket;
    const leave = sockets.add(this.#caller.session.credential, () => socket.close(1008, 'too many connections'));
    const unwatch = onSessionEnd(context, this.#request, this.#caller, () =>
      socket.close(1008, 'credential expired or revoked'),
    );
    const timer = setInterval(() => this.#ping(), PING_MS).unref();
    // No pong while data is unsent: pongs to a client that does not read would accumulate.
    socket.on('ping', (data) => socket.bufferedAmount === 0 && socket.pong(data));
    socket.on('pong', () => {
      this.#alive = true;
    });
    socket.on('message', (data, binary) => {
      if (binary) socket.close(1003, 'text messages only');
      else if (this.#pending >= MAX_PENDING_REQUESTS) socket.close(1008, 'too many concurrent requests');
      else
        void this.#onMessage(
          Buffer.isBuffer(data) ? data : Buffer.concat([data].flat().map((one) => Buffer.from(one as ArrayBuffer))),
        );
    });
    // A close event follows and cleans up.
    socket.on('error', (error) => this.#shared.jmap.log.debug({ err: error }, 'JMAP WebSocket failed'));
    socket.on('close', () => {
      clearInterval(timer);
      this.#stopPush?.();
      unwatch();
      leave();
    });
  }

  async #onMessage(octets: Buffer): Promise<void> {
    this.#pending++;
    using memory = this.#shared.context.memory.open([this.#caller.session.credential, networkOf(this.#request.ip)]);
    let requestId: string | undefined;
    try {
      if (!memory.tryGrow(octets.length)) throw new RequestError('limit', NO_MEMORY, 'maxConcurrentRequests');
      const message = readMessage(octets);
      requestId = message.id;
      await this.#dispatch(message, memory);
    } catch (error) {
      void this.#send({
        '@type': 'RequestError',
        ...(requestId !== undefined && { requestId }),
        ...this.#problemOf(error),
      });
    } finally {
      this.#pending--;
    }
  }

  #problemOf(error: unknown): Record<string, unknown> {
    if (error instanceof RequestError) return error.toProblem();
    this.#shared.jmap.log.error({ err: error }, 'JMAP request over WebSocket failed');
    return { type: 'about:blank', status: 500, detail: 'Internal error, logged on the server.' };
  }

  async #dispatch({ type, id, value }: Message, memory: MemoryReservation): Promise<void> {
    switch (type) {
      case 'Request':
        return this.#answer(value, id, memory);
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

  async #answer(
    value: Record<string, unknown>,
    requestId: string | undefined,
    memory: MemoryReservation,
  ): Promise<void> {
    const { jmap, requests, known } = this.#shared;
    using permit = requests.tryAcquire(this.#caller.session);
    if (permit === undefined) {
      const most = `At most ${jmap.limits.maxConcurrentRequests} concurrent requests are allowed. Wait for one to end.`;
      throw new RequestError('limit', most, 'maxConcurrentRequests');
    }
    const answer = await runJmapRequest(jmap, this.#caller.session, readRequest(value, known, jmap.limits), memory);
    // Memory and permit are held until the client has read the response.
    await this.#send({ '@type': 'Response', ...(requestId !== undefined && { requestId }), ...answer });
  }

  /** Enables push and replaces an earlier setting. With a pushState, sends the changes since then at once. */
  async #enablePush({ dataTypes, pushState }: Record<string, unknown>): Promise<void> {
    const named = Array.isArray(dataTypes) ? dataTypes.filter((one): one is string => typeof one === 'string') : null;
    const types = named === null ? null : namedTypes(named);
    const { watch } = this.#shared;
    const stop = await watch.add({ accounts: this.#accounts, types, notify: (change) => this.#notifySafely(change) });
    // A concurrent call may have set it meanwhile.
    this.#stopPush?.();
    this.#stopPush = stop;
    if (this.#socket.readyState !== this.#socket.OPEN) stop();
    await this.#catchUp(typeof pushState === 'string' ? readPosition(pushState) : undefined, types);
  }

  async #catchUp(since: Map<string, number> | undefined, types: ReadonlySet<StateType> | null): Promise<void> {
    if (since === undefined) return;
    const change = changedSince(await this.#shared.watch.states(this.#accounts), since, types);
    if (change !== undefined) await this.#notify(change);
  }

  #notifySafely(change: StateChange): void {
    this.#notify(change).catch((error: unknown) => {
      this.#shared.jmap.log.error({ err: error }, 'failed to send a change over a WebSocket');
      this.#socket.terminate();
    });
  }

  async #notify(change: StateChange): Promise<void> {
    const pushState = pushPosition(await this.#shared.watch.states(this.#accounts));
    void this.#send({ ...change, ...(pushState !== undefined && { pushState }) });
  }

  /** Resolves when the message has left, or the connection is closed. */
  #send(message: object): Promise<void> | undefined {
    if (this.#socket.readyState !== this.#socket.OPEN) return undefined;
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      this.#socket.terminate();
      return undefined;
    }
    return new Promise((resolve) => this.#socket.send(JSON.stringify(message), () => resolve()));
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
  /** The message without "@type" and "id". */
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
