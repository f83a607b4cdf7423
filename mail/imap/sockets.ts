import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Output } from './output.ts';
import type { Session } from './session.ts';

// One function for all connections, which finds its session on the socket: closures for each would cost more memory
// than all else that an idle session holds.
const SESSION = Symbol('session');
type Owned = Socket & { [SESSION]?: Session };

function onData(this: Owned, chunk: Buffer): void {
  this[SESSION]?.received(chunk);
}

function onDrain(this: Owned): void {
  this[SESSION]?.drained();
}

function onClose(this: Owned): void {
  this[SESSION]?.closed();
}

/** 'close' follows; without a listener an ECONNRESET would end the process. */
function onError(): void {}

/** Lets a session hear its socket. */
export function attach(session: Session): void {
  const socket: Owned = session.socket;
  socket[SESSION] = session;
  socket.on('data', onData);
  socket.on('drain', onDrain);
  socket.on('close', onClose);
  socket.on('error', onError);
}

function detach(session: Session): Socket {
  const socket: Owned = session.socket;
  delete socket[SESSION];
  socket.removeListener('data', onData);
  socket.removeListener('drain', onDrain);
  socket.removeListener('close', onClose);
  return socket;
}

/**
 * Starts TLS on a session's connection and calls `ready` when the handshake is done. Whatever was heard before is thrown
 * away: it was not encrypted, so anybody may have put it there (CVE-2011-0411). Throws when there is no certificate.
 */
export function startTls(session: Session, ready?: () => void): void {
  const secureContext = session.door.secureContext();
  session.output.flush();
  session.reader.clear();
  const plain = detach(session);
  if (plain.listenerCount('error') === 0) plain.on('error', onError);
  const socket = new TLSSocket(plain, { isServer: true, secureContext });
  session.socket = socket;
  session.output = new Output(socket);
  session.handshaking = true;
  session.since = session.door.clock.now();
  session.takenAt = session.since;
  session.taken = 0;
  attach(session);
  socket.once('secure', () => {
    session.handshaking = false;
    session.secure = true;
    session.since = session.door.clock.now();
    ready?.();
  });
}
