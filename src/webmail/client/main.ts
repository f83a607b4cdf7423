import { render } from 'preact';
import { App } from './app.ts';
import { watchLeaving } from './composer.ts';
import { prepareEditor } from './editor-html.ts';
import { openAccount, SignedOut } from './jmap.ts';
import { watchKeyboard } from './keyboard.ts';
import { watchChanges } from './live-updates.ts';
import { folderByRole, folders, loadFolders, loadIdentities } from './mail-state.ts';
import { attempt } from './notices.ts';
import { go, route, watchRoute } from './route.ts';
import { loadPending } from './scheduled.ts';
import { t } from './translate.ts';
import { loadSnoozed } from './snoozed.ts';
import { html } from './view.ts';

async function start(): Promise<void> {
  await openAccount();
  await Promise.all([loadFolders(), loadIdentities(), attempt(loadSnoozed)]);
  watchRoute();
  if (route.value.folder === '') go({ folder: (folderByRole('inbox') ?? folders.value[0])?.id ?? '' });
  const root = document.querySelector('#app');
  if (root === null) return;
  root.replaceChildren();
  render(html`<${App} />` as never, root);
  void prepareEditor();
  void attempt(loadPending);
  watchKeyboard();
  watchChanges();
  watchLeaving();
  await navigator.serviceWorker?.register('/mail/service-worker.js', { scope: '/mail' }).catch(() => undefined);
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
