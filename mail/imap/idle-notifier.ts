/** A session in IDLE that is notified of changes. */
export interface IdleSession {
  notify(): void;
}

/** Sessions notified in one turn of the event loop, so that a thousand of them do not block it. */
const MAX_PER_TURN = 100;

/**
 * Notifies IDLEing sessions of changes, in the next turn of the event loop. Changes that come faster than that are
 * reported together: each session computes its delta when it is notified.
 */
export class IdleNotifier {
  private readonly pending = new Set<IdleSession>();
  private scheduled = false;

  add(session: IdleSession): void {
    this.pending.add(session);
    this.schedule();
  }

  delete(session: IdleSession): void {
    this.pending.delete(session);
  }

  private schedule(): void {
    if (this.scheduled || this.pending.size === 0) return;
    this.scheduled = true;
    setImmediate(() => this.notifyPending());
  }

  private notifyPending(): void {
    this.scheduled = false;
    let remaining = MAX_PER_TURN;
    for (const session of this.pending) {
      this.pending.delete(session);
      session.notify();
      remaining -= 1;
      if (remaining === 0) break;
    }
    this.schedule();
  }
}
