import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { AccountNav } from './account-nav.ts';
import { compose } from './compose-state.ts';
import { askAboutFolder } from './folder-dialog.ts';
import { FolderMenuButton, openFolderMenu } from './folder-menu.ts';
import { folderName } from './folder-names.ts';
import { Icon, type IconName } from './icons.ts';
import type { MailFolder } from './jmap-types.ts';
import { folders } from './mail-state.ts';
import { canSend, ownsAccount } from './rights.ts';
import { hrefOf, route } from './route.ts';
import { sleeping, SNOOZED_SEARCH } from './snoozed.ts';
import { dropThreads, takesDrag } from './thread-drag.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** True while the folders cover the page of a phone. */
export const showsFolders = signal(false);

/** The folders with their counts. */
export function FolderNav() {
  const hide = (): void => {
    showsFolders.value = false;
  };
  return html`<nav class="folders ${showsFolders.value ? 'open' : ''}" aria-label=${t('app.folders')}>
    ${
      canSend() &&
      html`<button type="button" class="primary write" onClick=${() => (hide(), compose())}>
        <${Icon} name="write" /> ${t('app.write')}
      </button>`
    }
    <ul onClick=${hide}>
      ${levels(folders.value).map(({ folder, depth }) => html`<${FolderLine} key=${folder.id} folder=${folder} depth=${depth} />`)}
    </ul>
    ${snoozedLine(hide)}
    ${
      ownsAccount() &&
      html`<button type="button" class="new-folder" onClick=${() => askAboutFolder({ kind: 'create' })}>
        <${Icon} name="add" /> ${t('folder.new')}
      </button>`
    }
    <${AccountNav} />
    <a class="settings-link" href="#/settings" onClick=${hide}><${Icon} name="settings" /> ${t('app.settings')}</a>
    <form method="post" action="/mail/sign-out"><button class="link soft">${t('app.sign-out')}</button></form>
  </nav>`;
}

/** Folders in the order of their tree. */
function levels(
  all: readonly MailFolder[],
  parent: string | null = null,
  depth = 0,
): { folder: MailFolder; depth: number }[] {
  return all
    .filter(({ parentId }) => parentId === parent)
    .flatMap((folder) => [{ folder, depth }, ...levels(all, folder.id, depth + 1)]);
}

function FolderLine({ folder, depth }: { folder: MailFolder; depth: number }) {
  const [isTarget, setTarget] = useState(false);
  const { id, role, totalEmails, unreadThreads } = folder;
  const count =
    role === 'drafts' ? totalEmails : role === 'junk' || role === 'trash' || role === 'sent' ? 0 : unreadThreads;
  const isOpen = route.value.folder === id;
  const classes = `folder depth-${Math.min(depth, 4)} ${isTarget ? 'target' : ''}`;
  const onDragOver = (event: DragEvent): void => {
    if (!takesDrag(event, folder)) return;
    event.preventDefault();
    setTarget(true);
  };
  const onDragLeave = ({ currentTarget, relatedTarget }: DragEvent): void => {
    if (!(currentTarget as Element).contains(relatedTarget as Element | null)) setTarget(false);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setTarget(false);
    if (takesDrag(event, folder)) void dropThreads(event, folder);
  };
  const onContextMenu = (event: Event): void => {
    event.preventDefault();
    openFolderMenu(folder, event.currentTarget as Element);
  };
  return html`<li
    class=${classes}
    onDragOver=${onDragOver}
    onDragLeave=${onDragLeave}
    onDrop=${onDrop}
    onContextMenu=${onContextMenu}
  >
    <a href=${hrefOf({ folder: id, search: '', thread: undefined })} aria-current=${isOpen ? 'page' : undefined}>
      <${Icon} name=${iconOf(role)} /> <span class="name">${folderName(folder)}</span>
      ${count > 0 && html`<span class="count" title=${countText(role, count)}><span aria-hidden="true">${count}</span><span class="hidden">${countText(role, count)}</span></span>`}
    </a>
    <${FolderMenuButton} folder=${folder} />
  </li>`;
}

/** A link to the snoozed messages, while there are some. */
function snoozedLine(hide: () => void) {
  const isOpen = route.value.search === SNOOZED_SEARCH;
  const count = sleeping().length;
  if (count === 0 && !isOpen) return null;
  const href = hrefOf({ folder: 'search', search: SNOOZED_SEARCH, thread: undefined });
  return html`<ul onClick=${hide}>
    <li>
      <a href=${href} aria-current=${isOpen ? 'page' : undefined}>
        <${Icon} name="snooze" /> <span class="name">${t('folder.snoozed')}</span>
        ${count > 0 && html`<span class="count">${count}</span>`}
      </a>
    </li>
  </ul>`;
}

const countText = (role: string | null, count: number): string =>
  role === 'drafts' ? t('folder.count-drafts', { count }) : t('folder.count-unread', { count });

function iconOf(role: string | null): IconName {
  const known: readonly string[] = ['inbox', 'drafts', 'sent', 'archive', 'junk', 'trash'];
  return role !== null && known.includes(role) ? (role as IconName) : 'folder';
}
