import { reloadThread } from './actions.ts';
import { batchRun } from './batch-run.ts';
import { loadFolders } from './mail-state.ts';
import { attempt } from './notices.ts';
import { loadPending } from './scheduled.ts';
import { loadSnoozed } from './snoozed.ts';
import { dropLoadedThreads, isListStale, refreshList } from './thread-list.ts';

/** Pause in which changes are collected: a moved thread causes several. */
const COLLECT_MS = 150;
/** The same while an action runs in batches, each of which is a change: reading all again would slow it down. */
const COLLECT_BATCHES_MS = 2_000;

/** Pause before a new connection, which the browser does not make after an answer such as 502. */
const RECONNECT_MS = 10_000;

/** Follows the changes of the account by its event source. RFC 8620 7.3. */
export function watchChanges(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = (): void => {
    clearTimeout(timer);
    const pause = batchRun.value === undefined ? COLLECT_MS : COLLECT_BATCHES_MS;
    timer = setTimeout(() => void attempt(refreshAll), pause);
  };
  let source = connect(refresh);
  // The list was read before the connection, and changes until then are not reported.
  const catchUp = async (): Promise<void> => ((await isListStale()) ? refresh() : undefined);
  source.addEventListener('open', () => void attempt(catchUp), { once: true });
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
