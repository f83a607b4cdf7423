import type { Session } from './session.ts';

/** Sessions told in one turn of the event loop, so that a thousand of them do not hold up everybody else. */
const EACH_TURN = 100;

/**
 * Tells IDLEing sessions of changes, in the next turn of the event loop. When changes come faster than a thousand
 * sessions can be told, each is told several at once: the delta is worked out when its turn comes.
 */
export class Announcer {
  private readonly waiting = new Set<Session>();
  private scheduled = false;

  add(session: Session): void {
    this.waiting.add(session);
    this.schedule();
  }

  delete(session: Session): void {
    this.waiting.delete(session);
  }

  private schedule(): void {
    if (this.scheduled || this.waiting.size === 0) return;
    this.scheduled = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.scheduled = false;
    let left = EACH_TURN;
    for (const session of this.waiting) {
      this.waiting.delete(session);
      session.tell();
      left -= 1;
      if (left === 0) break;
    }
    this.schedule();
  }
}
