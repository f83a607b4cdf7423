import type { Log } from '../../log.ts';
import type { Login } from '../../login/types.ts';
import type { FollowingSession, SearchContexts } from '../search/contexts.ts';
import { Disconnected } from '../output.ts';
import type { AllowedUpdates, SelectedView } from '../selected-view.ts';
import type { SessionNotifications } from './session-notifications.ts';

/** The session that updates are written to. */
interface UpdatedSession extends FollowingSession {
  readonly notifications: SessionNotifications | undefined;
  readonly context: { readonly log: Log };
  readonly login: Login | undefined;
  readonly ip: string;
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
  else if (allowed !== 'nothing' && selected.isStale) {
    await selected.noteLabels(session.store);
    session.write(selected.takeUpdates(allowed));
  }
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
  else if (session.followsSearches) void session.contexts.report(session, 'all').catch(fail(session));
  else if (selected.isStale) void writeIdleUpdates(session, selected).catch(fail(session));
}

/** Writes what changed, unless IDLE ended meanwhile: then the end of the command has written it. */
async function writeIdleUpdates(session: UpdatedSession, view: SelectedView): Promise<void> {
  await view.noteLabels(session.store);
  if (session.idling && session.selected === view) session.writeUnsolicited(view.takeUpdates('all'));
}

/** Ends a session whose updates could not be read: a client that misses some would count wrongly from then on. */
function fail(session: UpdatedSession): (error: unknown) => void {
  return (error) => {
    if (error instanceof Disconnected) return;
    const { context, ip, login } = session;
    context.log.error({ err: error, account: login?.account, ip }, 'failed to update IMAP client');
    session.bye('Updates cannot be read. Connect again', 'UNAVAILABLE');
  };
}
