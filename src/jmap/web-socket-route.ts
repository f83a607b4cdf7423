import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { WebSocketServer } from 'ws';
import { hasRequests } from '../http/request-queue.ts';
import { sendProblemDetails, withCaller } from './http-exchange.ts';
import { JmapSocket, type SocketContext } from './jmap-socket.ts';

/** Time for clients to answer a close at shutdown. */
const CLOSE_TIMEOUT_MS = 1_000;

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
        return sendProblemDetails(
          reply.header('upgrade', 'websocket'),
          426,
          'This endpoint needs a WebSocket upgrade.',
        );
      const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',');
      if (!offered.some((one) => one.trim() === 'jmap')) {
        return sendProblemDetails(reply, 400, 'Offer the subprotocol "jmap" (RFC 8887 4.1).');
      }
      reply.hijack();
      upgrade.release();
      sockets.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) => {
        new JmapSocket(shared, socket, caller, request).open(upgrade.socket);
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
    response.shouldKeepAlive = false;
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
