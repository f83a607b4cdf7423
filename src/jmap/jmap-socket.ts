import type { Duplex } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { MemoryReservation } from '../../mail/limits/memory-budget.ts';
import { RequestError } from '../../mail/jmap/core/errors.ts';
import { readIJson } from '../../mail/jmap/core/json.ts';
import type { JmapContext } from '../../mail/jmap/core/method.ts';
import {
  changedSince,
  pushPosition,
  readPosition,
  type StateChange,
  type StateWatch,
} from '../../mail/jmap/push/state-watch.ts';
import { SharedStateWatch } from '../../mail/jmap/push/shared-state-watch.ts';
import { readRequest } from '../../mail/jmap/core/request.ts';
import type { StateType } from '../../mail/store/account/type-state.ts';
import type { AppContext } from '../core/app-context.ts';
import { type JmapCaller, openMemory } from './http-exchange.ts';
import { SocketWriter } from './socket-writer.ts';
import { namedTypes } from './push-types.ts';
import { runJmapRequest } from './request-loader.ts';
import type { RequestSlots } from './request-slots.ts';
import { type ConnectionCap, onSessionEnd } from './session-end.ts';

const PING_MS = 60_000;
/** Maximum unanswered messages of one client. */
const MAX_PENDING_REQUESTS = 32;
const NO_MEMORY = 'The server has no memory left for this request. Try again later.';

/** State that all sockets share. */
export interface SocketContext {
  context: AppContext;
  jmap: JmapContext;
  watch: StateWatch;
  sockets: ConnectionCap;
  requests: RequestSlots;
  /** Capabilities that `using` may name. */
  known: ReadonlySet<string>;
}

/** One open WebSocket: handles requests concurrently and sends state changes once push is enabled. */
export class JmapSocket {
  readonly #shared: SocketContext;
  readonly #socket: WebSocket;
  readonly #caller: JmapCaller;
  readonly #request: FastifyRequest;
  readonly #accounts: ReadonlyMap<string, number>;
  readonly #sharedWatch: SharedStateWatch;
  readonly #writer: SocketWriter;
  #stopPush: (() => void) | undefined;
  #alive = true;
  #pending = 0;

  constructor(shared: SocketContext, socket: WebSocket, caller: JmapCaller, request: FastifyRequest) {
    this.#shared = shared;
    this.#socket = socket;
    this.#caller = caller;
    this.#request = request;
    this.#writer = new SocketWriter(socket);
    this.#sharedWatch = new SharedStateWatch(shared.context.store, shared.context.log);
    this.#accounts = new Map([...caller.session.accounts].map(([id, { account }]) => [id, account]));
  }

  /** `connection`: where the frames arrive. */
  open(connection: Duplex): void {
    const { context, sockets } = this.#shared;
    const incoming = this.#boundIncoming(connection);
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
      incoming[Symbol.dispose]();
      unwatch();
      leave();
    });
  }

  /** Counts the octets of a message that is not complete: each connection could hold one of maximum size. */
  #boundIncoming(connection: Duplex): MemoryReservation {
    const incoming = this.#reserve();
    connection.prependListener('data', ({ length }: Buffer) => {
      if (!incoming.tryGrow(length)) this.#socket.terminate();
    });
    this.#socket.on('message', () => incoming.tryResize(0));
    return incoming;
  }

  #reserve(): MemoryReservation {
    return openMemory(this.#shared.context, this.#caller.session, this.#request.ip);
  }

  async #onMessage(octets: Buffer): Promise<void> {
    this.#pending++;
    using memory = this.#reserve();
    let requestId: string | undefined;
    try {
      if (!memory.tryGrow(octets.length)) throw new RequestError('limit', NO_MEMORY, 'maxConcurrentRequests');
      const message = readMessage(octets);
      requestId = message.id;
      await this.#dispatch(message, memory);
    } catch (error) {
      void this.#writer.send({
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
    using permit = await requests.take(this.#caller.session);
    if (permit === undefined) throw requests.refusal();
    const read = readRequest(value, known, jmap.limits);
    const isGone = (): boolean => this.#socket.readyState !== this.#socket.OPEN;
    const answer = await runJmapRequest(jmap, this.#caller.session, read, memory, isGone);
    // Memory and permit are held until the client has read the response.
    await this.#writer.send({ '@type': 'Response', ...(requestId !== undefined && { requestId }), ...answer });
  }

  /** Enables push and replaces an earlier setting. With a pushState, sends the changes since then at once. */
  async #enablePush({ dataTypes, pushState }: Record<string, unknown>): Promise<void> {
    const named = Array.isArray(dataTypes) ? dataTypes.filter((one): one is string => typeof one === 'string') : null;
    const types = named === null ? null : namedTypes(named);
    const { watch } = this.#shared;
    const notify = (change: StateChange): void => this.#notifySafely(change);
    const { sharing: login } = this.#caller.session;
    const stopOwn = await watch.add({ accounts: this.#accounts, types, notify });
    const stopShared = login && (await this.#sharedWatch.add({ login, types, notify }));
    const stop = (): void => {
      stopOwn();
      stopShared?.();
    };
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
    // A pushState has the own accounts only.
    const { sharing: login } = this.#caller.session;
    const shared = login && (await this.#sharedWatch.states({ login, types }));
    if (shared !== undefined) await this.#notify(shared);
  }

  #notifySafely(change: StateChange): void {
    this.#notify(change).catch((error: unknown) => {
      this.#shared.jmap.log.error({ err: error }, 'failed to send a change over a WebSocket');
      this.#socket.terminate();
    });
  }

  async #notify(change: StateChange): Promise<void> {
    const pushState = pushPosition(await this.#shared.watch.states(this.#accounts));
    void this.#writer.send({ ...change, ...(pushState !== undefined && { pushState }) });
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
  const value = readIJson(octets);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RequestError('notRequest', 'The message is not an object.');
  }
  const { '@type': type, id, ...rest } = value as Record<string, unknown>;
  return { type, id: typeof id === 'string' ? id : undefined, value: rest };
}
