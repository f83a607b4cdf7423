import type { Session } from './session.ts';

/**
 * Applies the timeouts to a session and sends the IDLE keep-alive. Called about once a second, by one timer for all
 * sessions. `now` in ms UTC.
 */
export function sweep(session: Session, now: number): void {
  const { limits } = session.context;
  if (session.state === 'logout') {
    if (now - session.stateSince > limits.closingMs) session.socket.destroy();
  } else if (session.handshaking) {
    if (now - session.stateSince > limits.handshakeMs) drop(session, 'handshake');
  } else if (isStalled(session, now)) {
    drop(session, 'stalled');
  } else if (session.state === 'not-authenticated') {
    if (now - session.stateSince > limits.beforeLoginMs) timeOut(session, 'Login timeout');
  } else if (session.interruptible) {
    sweepResting(session, now);
  } else if (session.socket.writableLength === 0 && now - session.lastInput > limits.idleMs) {
    // The rest of a command is missing. A client that still reads a long response is not idle.
    drop(session, 'idle');
  }
}

function sweepResting(session: Session, now: number): void {
  const { limits } = session.context;
  if (now - session.lastInput > limits.idleMs) {
    timeOut(session, 'Idle timeout');
  } else if (session.idling && now - session.lastOutput >= limits.keepAliveMs) {
    session.writeUnsolicited('* OK Still here\r\n');
  }
}

/** True when output is pending and the client has read nothing of it for `stalledMs`. */
function isStalled(session: Session, now: number): boolean {
  const { socket } = session;
  const drained = socket.bytesWritten - socket.writableLength;
  if (socket.writableLength === 0 || drained !== session.bytesDrained) {
    session.bytesDrained = drained;
    session.drainedAt = now;
    return false;
  }
  return now - session.drainedAt > session.context.limits.stalledMs;
}

function timeOut(session: Session, text: string): void {
  reportLoitering(session);
  session.context.meter.count('imap_sessions_dropped_total', { reason: 'idle' });
  if (session.interruptible) session.bye(text, 'UNAVAILABLE');
  else session.socket.destroy();
}

function drop(session: Session, reason: 'handshake' | 'stalled' | 'idle'): void {
  reportLoitering(session);
  session.context.meter.count('imap_sessions_dropped_total', { reason });
  session.socket.destroy();
}

/** Counts an offence of a client that held a connection without logging in. */
function reportLoitering({ login, context, ip }: Session): void {
  if (login === undefined) context.guard.addOffence(ip, 'loitering');
}
