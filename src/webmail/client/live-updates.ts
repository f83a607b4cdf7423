import { reloadThread } from './actions.ts';
import { loadFolders } from './mail-state.ts';
import { attempt } from './notices.ts';
import { loadPending } from './scheduled.ts';
import { loadSnoozed } from './snoozed.ts';
import { dropLoadedThreads, refreshList } from './thread-list.ts';

/** Pause in which changes are collected: a moved thread causes several. */
const COLLECT_MS = 150;

/** Follows the changes of the account by its event source. RFC 8620 7.3. The browser reconnects by itself. */
export function watchChanges(): void {
  const source = new EventSource('/mail/jmap/eventsource?types=Email,Mailbox,EmailSubmission&closeafter=no&ping=60');
  let timer: ReturnType<typeof setTimeout> | undefined;
  source.addEventListener('state', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void attempt(refreshAll), COLLECT_MS);
  });
}

async function refreshAll(): Promise<void> {
  dropLoadedThreads();
  // The list depends on them.
  await loadSnoozed();
  await Promise.all([loadFolders(), refreshList(), reloadThread(), loadPending()]);
}
