import { useEffect, useRef } from 'preact/hooks';
import { BatchBar } from './batch-bar.ts';
import { Composer } from './composer.ts';
import { FolderDialog } from './folder-dialog.ts';
import { FolderNav, showsFolders } from './folder-nav.ts';
import { folderName } from './folder-names.ts';
import { IconButton } from './icons.ts';
import { currentAccount } from './jmap.ts';
import { ShortcutHelp } from './keyboard.ts';
import { LinkQuestion } from './link-question.ts';
import { ListPane } from './list-pane.ts';
import { folders, openFolder } from './mail-state.ts';
import { attempt, hideNotice, notice, undoLast } from './notices.ts';
import { route, showsSettings } from './route.ts';
import { SearchField } from './search-field.ts';
import { clearSelection } from './selection.ts';
import { SettingsPage } from './settings-page.ts';
import { ThreadPane } from './thread-pane.ts';
import { listKey, openList } from './thread-list.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** The whole application. */
export function App() {
  const key = listKey();
  // The first list is opened before the application is rendered.
  const opened = useRef(key);
  useEffect(() => {
    if (opened.current === key) return;
    opened.current = key;
    clearSelection();
    void attempt(openList);
  }, [key]);
  useEffect(() => {
    document.title = titleOf();
  });
  return html`<div class="app ${route.value.thread === undefined ? '' : 'reading'}">
    <a class="skip" href="#list" onClick=${skipToList}>${t('app.skip')}</a>
    <header class="top">
      <${IconButton}
        icon="menu"
        label=${t('app.folders')}
        className="menu-button"
        onClick=${() => (showsFolders.value = !showsFolders.value)}
      />
      <span class="mark">Mailstead</span>
      <${SearchField} />
      <span class="account" title=${currentAccount().address}>${currentAccount().address}</span>
    </header>
    <${FolderNav} />
    <main>${showsSettings() ? html`<${SettingsPage} />` : html`<${ListPane} /><${ThreadPane} />`}</main>
    <${Composer} />
    <${ShortcutHelp} />
    <${LinkQuestion} />
    <${FolderDialog} />
    <${BatchBar} />
    <${NoticeBar} />
  </div>`;
}

function skipToList(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('.rows')?.focus();
}

function titleOf(): string {
  const inbox = folders.value.find(({ role }) => role === 'inbox');
  const count = inbox?.unreadThreads ?? 0;
  const open = openFolder.value;
  const name =
    route.value.folder === 'search' ? t('search.title') : open === undefined ? t('app.mail') : folderName(open);
  return `${count > 0 ? `(${count}) ` : ''}${name} - ${currentAccount().address}`;
}

function NoticeBar() {
  const line = notice.value;
  return html`<div class="notice ${line?.bad === true ? 'bad' : ''}" role="status" hidden=${line === undefined}>
    <span>${line?.text}</span>
    ${line?.undo !== undefined && html`<button type="button" onClick=${() => void attempt(undoLast)}>${t('button.undo')}</button>`}
    <${IconButton} icon="close" label=${t('button.close')} onClick=${hideNotice} />
  </div>`;
}
