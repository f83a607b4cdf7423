import { reloadThread } from './actions.ts';
import { loadFolders } from './mail-state.ts';
import { attempt } from './notices.ts';
import { loadPending } from './scheduled.ts';
import { loadSnoozed } from './snoozed.ts';
import { dropLoadedThreads, refreshList } from './thread-list.ts';

/** Pause in which changes are collected: a moved thread causes several. */
const COLLECT_MS = 150;

/** Pause before a new connection, which the browser does not make after an answer such as 502. */
const RECONNECT_MS = 10_000;

/** Follows the changes of the account by its event source. RFC 8620 7.3. */
export function watchChanges(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void attempt(refreshAll), COLLECT_MS);
  };
  let source = connect(refresh);
  const reconnect = (): void => {
    if (source.readyState !== EventSource.CLOSED) return;
    source = connect(refresh);
    // Changes of the time without a connection are not reported.
    refresh();
  };
  setInterval(reconnect, RECONNECT_MS);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && reconnect());
}

function connect(refresh: () => void): EventSource {
  const source = new EventSource('/mail/jmap/eventsource?types=Email,Mailbox,EmailSubmission&closeafter=no&ping=60');
  source.addEventListener('state', refresh);
  return source;
}

async function refreshAll(): Promise<void> {
  dropLoadedThreads();
  // The list depends on them.
  await loadSnoozed();
  await Promise.all([loadFolders(), refreshList(), reloadThread(), loadPending()]);
}
