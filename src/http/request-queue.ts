import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum pipelined requests of a connection that wait; clients wait for the answer before they send more. */
const MAX_WAITING = 16;
/** Requests after which a client that keeps sending is cut off: Node holds 3 KB for each until the first is answered. */
const MAX_REFUSED = 256;

type Exchange = readonly [IncomingMessage, ServerResponse];

/** Requests of a connection: one that runs, and those behind it. */
interface ConnectionQueue {
  waiting: Exchange[];
  /** Once a request was refused, none after it runs. */
  refused: number;
}

/** Connections with a request under way. */
const queues = new WeakMap<Socket, ConnectionQueue>();

/** True while a request of the connection runs or waits. */
export function hasRequests(socket: Socket): boolean {
  return queues.has(socket);
}

/**
 * Runs the pipelined requests of a connection one after the other. Node starts all that a packet contains at once: 2,000
 * requests in 64 KB, without a limit for the connection.
 */
export function queuePipelined(server: Server): void {
  const listeners = server.listeners('request') as ((...exchange: Exchange) => void)[];
  server.removeAllListeners('request');
  server.on('request', (...exchange: [IncomingMessage, ServerResponse]) => {
    const [{ socket }] = exchange;
    const queue = queues.get(socket);
    if (queue !== undefined) return enqueue(queue, exchange);
    const created: ConnectionQueue = { waiting: [], refused: 0 };
    queues.set(socket, created);
    return run(exchange, created);
  });

  // Node answers 417 itself and keeps the connection, whose body may still be on its way: nothing behind it was answered.
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) =>
    response.writeHead(417, { connection: 'close', 'content-length': '0' }).end(),
  );

  function run(exchange: Exchange, queue: ConnectionQueue): void {
    const [{ socket, headers }, response] = exchange;
    // Node drops what follows an upgrade offer in its packet, also one that is answered as plain HTTP.
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
    response.once('close', () => {
      const next = queue.waiting.shift();
      if (next !== undefined && !socket.destroyed) run(next, queue);
      else queues.delete(socket);
    });
    for (const listener of listeners) listener(...exchange);
  }
}

function enqueue(queue: ConnectionQueue, exchange: Exchange): void {
  if (queue.refused === 0 && queue.waiting.length < MAX_WAITING) return void queue.waiting.push(exchange);
  queue.refused++;
  const [{ socket }, response] = exchange;
  if (queue.refused === 1) refuse(response);
  if (queue.refused > MAX_REFUSED) socket.destroy();
}

/** Refuses a request and closes the connection after it: later requests get no answer. */
function refuse(response: ServerResponse): void {
  const message = `At most ${MAX_WAITING} requests of a connection can wait. Read the answers first.`;
  const body = JSON.stringify({ error: 'unavailable', message, retryAfterSeconds: 1 });
  response.writeHead(503, {
    'content-type': 'application/json',
    'content-length': body.length,
    'retry-after': '1',
    connection: 'close',
  });
  response.end(body);
}
