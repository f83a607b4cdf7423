import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { sniCallback } from '../limits/sni-callback.ts';
import { Output } from './output.ts';
import type { Session } from './session.ts';

// Shared handlers that find the session on the socket: closures per connection would need more memory than the rest of an
// idle session.
const SESSION = Symbol('session');
type SessionSocket = Socket & { [SESSION]?: Session };

function onData(this: SessionSocket, chunk: Buffer): void {
  this[SESSION]?.onData(chunk);
}

function onDrain(this: SessionSocket): void {
  this[SESSION]?.onDrain();
}

function onClose(this: SessionSocket): void {
  this[SESSION]?.onClose();
}

/** Ignores the error, 'close' follows; without a listener an ECONNRESET would end the process. */
function onError(): void {}

/** Attaches the socket handlers of a session. */
export function attach(session: Session): void {
  const socket: SessionSocket = session.socket;
  socket[SESSION] = session;
  socket.on('data', onData);
  socket.on('drain', onDrain);
  socket.on('close', onClose);
  socket.on('error', onError);
}

function detach(session: Session): Socket {
  const socket: SessionSocket = session.socket;
  delete socket[SESSION];
  socket.removeListener('data', onData);
  socket.removeListener('drain', onDrain);
  socket.removeListener('close', onClose);
  return socket;
}

/**
 * Starts TLS on a session's connection and calls `ready` after the handshake. Discards all plaintext received before:
 * an attacker may have injected it (CVE-2011-0411). Throws when there is no certificate.
 */
export function startTls(session: Session, ready?: () => void): void {
  const secureContext = session.context.secureContext();
  session.output.flush();
  session.reader.clear();
  const plain = detach(session);
  if (plain.listenerCount('error') === 0) plain.on('error', onError);
  const SNICallback = sniCallback(
    () => secureContext,
    (name) => session.context.secureContext(name),
  );
  const socket = new TLSSocket(plain, { isServer: true, secureContext, SNICallback });
  session.socket = socket;
  session.output = new Output(socket);
  session.handshaking = true;
  session.stateSince = session.context.clock.now();
  session.drainedAt = session.stateSince;
  session.bytesDrained = 0;
  attach(session);
  socket.once('secure', () => {
    session.handshaking = false;
    session.secure = true;
    session.stateSince = session.context.clock.now();
    ready?.();
  });
}
