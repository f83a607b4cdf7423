import type { Session } from './session.ts';

/**
 * Ends what has lasted too long, and keeps IDLE alive. Called for every session about once a second: one timer for all
 * of them. `now` in ms UTC.
 */
export function sweep(session: Session, now: number): void {
  const { limits } = session.door;
  if (session.state === 'logout') {
    if (now - session.since > limits.closingMs) session.socket.destroy();
  } else if (session.handshaking) {
    if (now - session.since > limits.handshakeMs) drop(session, 'handshake');
  } else if (stalled(session, now)) {
    drop(session, 'stalled');
  } else if (session.state === 'not-authenticated') {
    if (now - session.since > limits.beforeLoginMs) timeOut(session, 'You took too long to log in');
  } else if (session.resting) {
    sweepResting(session, now);
  } else if (session.socket.writableLength === 0 && now - session.lastInput > limits.idleMs) {
    // The client owes us the rest of a command; one that is still reading a long answer owes nothing.
    drop(session, 'idle');
  }
}

function sweepResting(session: Session, now: number): void {
  const { limits } = session.door;
  if (now - session.lastInput > limits.idleMs) {
    timeOut(session, 'Idle for too long');
  } else if (session.idling && now - session.lastOutput >= limits.keepAliveMs) {
    session.utter('* OK Still here\r\n');
  }
}

/** True when the client is owed something and has taken nothing of it for long. */
function stalled(session: Session, now: number): boolean {
  const { socket } = session;
  const taken = socket.bytesWritten - socket.writableLength;
  if (socket.writableLength === 0 || taken !== session.taken) {
    session.taken = taken;
    session.takenAt = now;
    return false;
  }
  return now - session.takenAt > session.door.limits.stalledMs;
}

function timeOut(session: Session, text: string): void {
  noteLoitering(session);
  session.door.meter.count('imap_sessions_dropped_total', { reason: 'idle' });
  if (session.resting) session.bye(text, 'UNAVAILABLE');
  else session.socket.destroy();
}

function drop(session: Session, reason: 'handshake' | 'stalled' | 'idle'): void {
  noteLoitering(session);
  session.door.meter.count('imap_sessions_dropped_total', { reason });
  session.socket.destroy();
}

/** Who never logged in held a place for nothing. */
function noteLoitering({ login, door, ip }: Session): void {
  if (login === undefined) door.guard.offended(ip, 'loitering');
}
