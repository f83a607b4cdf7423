import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { specialWithin } from './folder-actions.ts';
import { askAboutFolder } from './folder-dialog.ts';
import { folderName } from './folder-names.ts';
import { Icon } from './icons.ts';
import type { MailFolder } from './jmap-types.ts';
import { ownsAccount } from './rights.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** The menu that is open: its folder, and the point of the window below which it opens. */
interface OpenMenu {
  folder: string;
  left: number;
  top: number;
}

const openMenu = signal<OpenMenu | undefined>(undefined);

/** Room that a menu takes at most, in CSS pixels: it opens so far above the end of the window. */
const MENU_WIDTH = 240;
const MENU_HEIGHT = 230;

/** True if there is anything to choose. */
const hasActions = ({ myRights: { mayCreateChild, mayRename, mayDelete } }: MailFolder): boolean =>
  mayCreateChild || mayRename || mayDelete || ownsAccount();

/** Opens the menu of a folder at its button. */
export function openFolderMenu(folder: MailFolder, line: Element | null): void {
  const button = line?.querySelector('.folder-actions');
  if (button == null || !hasActions(folder)) return;
  const { left, bottom } = button.getBoundingClientRect();
  openMenu.value = {
    folder: folder.id,
    left: Math.max(8, Math.min(left, innerWidth - MENU_WIDTH - 8)),
    top: Math.min(bottom + 2, innerHeight - MENU_HEIGHT - 8),
  };
}

/** The button of a folder that opens its menu. */
export function FolderMenuButton({ folder }: { folder: MailFolder }) {
  if (!hasActions(folder)) return null;
  const { value: open } = openMenu;
  const isOpen = open?.folder === folder.id;
  const label = t('folder.actions', { folder: folderName(folder) });
  const toggle = (event: Event): void => {
    event.stopPropagation();
    if (isOpen) openMenu.value = undefined;
    else openFolderMenu(folder, (event.currentTarget as Element).closest('li'));
  };
  return html`<button
      type="button"
      class="icon-button folder-actions"
      title=${label}
      aria-label=${label}
      aria-haspopup="menu"
      aria-expanded=${isOpen ? 'true' : 'false'}
      onClick=${toggle}
    >
      <${Icon} name="more" />
    </button>
    ${isOpen && html`<${FolderMenu} folder=${folder} at=${open} />`}`;
}

/** Actions on a folder. Those that its role forbids are listed, with the reason. */
function FolderMenu({ folder, at }: { folder: MailFolder; at: OpenMenu }) {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => itemsOf(menu.current)[0]?.focus(), []);
  const close = (): void => {
    openMenu.value = undefined;
  };
  const back = (): void => {
    close();
    menu.current?.closest('li')?.querySelector<HTMLElement>('.folder-actions')?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === 'Escape') back();
    else if (!moveFocus(menu.current, event.key)) return;
    event.preventDefault();
  };
  const onFocusOut = ({ relatedTarget }: FocusEvent): void => {
    const next = relatedTarget as Element | null;
    // The button closes its menu itself.
    if (menu.current?.contains(next) !== true && next?.matches('[aria-expanded="true"]') !== true) close();
  };
  const { myRights } = folder;
  const special = specialWithin(folder);
  const why = reasonOf(folder, special);
  const item = (label: string, kind: FolderAction, isAllowed: boolean) =>
    html`<${MenuItem}
      label=${label}
      isAllowed=${isAllowed}
      onChoose=${() => (back(), askAboutFolder({ kind, folder }))}
    />`;
  return html`<div
    class="folder-menu"
    style=${{ left: `${at.left}px`, top: `${at.top}px` }}
    ref=${menu}
    onKeyDown=${onKeyDown}
    onFocusOut=${onFocusOut}
    onClick=${(event: Event) => event.stopPropagation()}
  >
    <div role="menu" aria-label=${t('folder.actions', { folder: folderName(folder) })}>
      ${myRights.mayCreateChild && item(t('folder.new-inside'), 'create', true)}
      ${item(t('folder.rename'), 'rename', myRights.mayRename && special?.id !== folder.id)}
      ${ownsAccount() && item(t('share.share'), 'share', true)}
      ${item(t('folder.delete'), 'delete', myRights.mayDelete && special === undefined)}
    </div>
    <p id="folder-menu-why" class="soft" hidden=${why === ''}>${why}</p>
  </div>`;
}

type FolderAction = 'create' | 'rename' | 'share' | 'delete';

/** The reason why a folder keeps its name or place; empty: there is none. */
function reasonOf(folder: MailFolder, special: MailFolder | undefined): string {
  if (special === undefined) return '';
  return special.id === folder.id ? t('folder.special') : t('folder.has-special', { folder: folderName(special) });
}

function MenuItem({ label, isAllowed, onChoose }: { label: string; isAllowed: boolean; onChoose: () => void }) {
  const run = (event: Event): void => {
    event.stopPropagation();
    if (isAllowed) onChoose();
  };
  return html`<button
    type="button"
    role="menuitem"
    tabindex="-1"
    aria-disabled=${isAllowed ? undefined : 'true'}
    aria-describedby=${isAllowed ? undefined : 'folder-menu-why'}
    onClick=${run}
  >
    ${label}
  </button>`;
}

const itemsOf = (menu: Element | null): HTMLElement[] => [
  ...(menu?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []),
];

/** Moves the focus by an arrow key, Home or End; false for other keys. */
function moveFocus(menu: Element | null, key: string): boolean {
  const items = itemsOf(menu);
  const current = items.findIndex((one) => one === document.activeElement);
  const next = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: items.length - 1 }[key];
  if (next === undefined) return false;
  items.at(next % items.length)?.focus();
  return true;
}
