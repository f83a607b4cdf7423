import { signal } from '@preact/signals';
import { compose } from './compose-state.ts';
import { folderName } from './folder-names.ts';
import { Icon, type IconName } from './icons.ts';
import type { MailFolder } from './jmap-types.ts';
import { folders } from './mail-state.ts';
import { hrefOf, route } from './route.ts';
import { sleeping, SNOOZED_SEARCH } from './snoozed.ts';
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
    <button type="button" class="primary write" onClick=${() => (hide(), compose())}>
      <${Icon} name="write" /> ${t('app.write')}
    </button>
    <ul onClick=${hide}>
      ${levels(folders.value).map(({ folder, depth }) => folderLine(folder, depth))}
    </ul>
    ${snoozedLine(hide)}
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

function folderLine(folder: MailFolder, depth: number) {
  const { id, role, totalEmails, unreadThreads } = folder;
  const count =
    role === 'drafts' ? totalEmails : role === 'junk' || role === 'trash' || role === 'sent' ? 0 : unreadThreads;
  const isOpen = route.value.folder === id;
  return html`<li key=${id} class=${`depth-${Math.min(depth, 4)}`}>
    <a href=${hrefOf({ folder: id, search: '', thread: undefined })} aria-current=${isOpen ? 'page' : undefined}>
      <${Icon} name=${iconOf(role)} /> <span class="name">${folderName(folder)}</span>
      ${count > 0 && html`<span class="count" title=${countText(role, count)}><span aria-hidden="true">${count}</span><span class="hidden">${countText(role, count)}</span></span>`}
    </a>
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
