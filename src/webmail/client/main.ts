import { render } from 'preact';
import { afterPaint } from './after-paint.ts';
import { App } from './app.ts';
import { watchLeaving } from './composer.ts';
import { prepareEditor } from './editor-html.ts';
import { dropFirstReads } from './first-reads.ts';
import { openAccount, SignedOut } from './jmap.ts';
import { watchKeyboard } from './keyboard.ts';
import { watchChanges } from './live-updates.ts';
import { homeFolder, loadFolders, loadIdentities } from './mail-state.ts';
import { attempt } from './notices.ts';
import { go, route, watchRoute } from './route.ts';
import { loadPending } from './scheduled.ts';
import { t } from './translate.ts';
import { loadSnoozed } from './snoozed.ts';
import { openList } from './thread-list.ts';
import { html } from './view.ts';

async function start(): Promise<void> {
  openInbox();
  watchRoute();
  await openAccount();
  await attempt(loadSnoozed);
  // The list is read while the folders are. It is rendered with them if the server answered both before, as rendering twice
  // takes twice the time on a phone.
  const list = attempt(openList);
  await Promise.all([loadFolders(), loadIdentities()]);
  await Promise.race([list, new Promise((resolve) => setTimeout(resolve))]);
  dropFirstReads();
  if (route.value.folder === '') go({ folder: homeFolder() });
  const root = document.querySelector('#app');
  if (root === null) return;
  root.replaceChildren();
  render(html`<${App} />` as never, root);
  watchKeyboard();
  watchLeaving();
  await afterPaint();
  watchChanges();
  void attempt(loadPending);
  void prepareEditor();
  await navigator.serviceWorker?.register('/mail/service-worker.js', { scope: '/mail' }).catch(() => undefined);
}

/** Without another place or account in the address, the inbox is opened: the document names it. */
function openInbox(): void {
  const { inbox } = document.documentElement.dataset;
  if (inbox === undefined || inbox === '' || location.hash !== '' || location.search !== '') return;
  history.replaceState(null, '', `#/${inbox}`);
}

start().catch((error: unknown) => {
  if (error instanceof SignedOut) return location.assign('/mail/sign-in');
  const root = document.querySelector('#app');
  const text = document.createElement('p');
  text.className = 'starting';
  text.textContent = t('app.failed', { why: (error as Error).message });
  root?.replaceChildren(text);
  throw error;
});
