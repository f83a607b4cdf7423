import type { FollowingSession, SearchContexts } from '../search/contexts.ts';
import type { AllowedUpdates } from '../selected-view.ts';
import type { SessionNotifications } from './session-notifications.ts';

/** The session that updates are written to. */
interface UpdatedSession extends FollowingSession {
  readonly notifications: SessionNotifications | undefined;
  readonly contexts: SearchContexts;
  readonly followsSearches: boolean;
  readonly idling: boolean;
  readonly open: boolean;
  readonly interruptible: boolean;
  readonly output: { readonly backedUp: boolean; flush(): void };
  write(text: string): void;
  bye(text: string, code: string): void;
}

/**
 * Writes what changed in the selected mailbox, in searches that the client follows, and in the mailboxes of NOTIFY, at
 * the end of a command. `isChange`: the command changed mailboxes, so its results are written also after NOTIFY
 * NONE.
 */
export async function writeUpdates(session: UpdatedSession, allowed: AllowedUpdates, isChange: boolean): Promise<void> {
  const { notifications, selected } = session;
  if (notifications !== undefined) {
    const isSilent = notifications.betweenCommands === 'nothing' && !isChange;
    await notifications.report(isSilent ? 'nothing' : allowed);
  } else if (selected === undefined) return;
  else if (session.followsSearches) await session.contexts.report(session, allowed);
  else session.write(selected.takeUpdates(allowed));
}

/** Writes pending updates outside of a command, or during IDLE, to a client that reads. */
export function writePendingUpdates(session: UpdatedSession): void {
  const { notifications, selected, idling } = session;
  if (!session.open || !session.interruptible) return;
  if (selected?.shared.gone === true) {
    session.bye('The selected mailbox was deleted', 'NONEXISTENT');
  } else if (session.output.backedUp) return;
  else if (notifications !== undefined) {
    const allowed = notifications.betweenCommands;
    void notifications.report(idling && allowed !== 'nothing' ? 'all' : allowed).then(() => session.output.flush());
  } else if (selected === undefined || !idling) return;
  else if (session.followsSearches) void session.contexts.report(session, 'all');
  else session.writeUnsolicited(selected.takeUpdates('all'));
}
