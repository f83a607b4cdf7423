import { useRef } from 'preact/hooks';
import { mayTake, moveEmails } from './actions.ts';
import { folderName } from './folder-names.ts';
import { Icon } from './icons.ts';
import type { MailFolder } from './jmap-types.ts';
import { folders, type ThreadMember } from './mail-state.ts';
import { route } from './route.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

interface MoveMenuProps {
  emails: readonly ThreadMember[];
  /** Called with the chosen folder, instead of moving the emails. */
  onFolder?: ((folder: MailFolder) => Promise<void>) | undefined;
}

/** Moves emails from the open folder, and says where they are. */
export function moveToFolder(emails: readonly ThreadMember[], folder: MailFolder): Promise<void> {
  return moveEmails(emails, folder.id, t('done.moved', { folder: folderName(folder) }));
}

/** A menu of folders to move emails to. */
export function MoveMenu({ emails, onFolder }: MoveMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  if (!mayTake(emails)) return null;
  const targets = folders.value.filter(
    ({ id, role, myRights }) => id !== route.value.folder && role !== 'drafts' && myRights.mayAddItems,
  );
  const move = (folder: MailFolder): void => {
    menu.current?.removeAttribute('open');
    void (onFolder?.(folder) ?? moveToFolder(emails, folder));
  };
  return html`<details class="menu move" ref=${menu}>
    <summary class="icon-button" title=${t('act.move')} aria-label=${t('act.move')}><${Icon} name="move" /></summary>
    <ul>
      ${targets.map((folder) => html`<li><button type="button" onClick=${() => move(folder)}>${folderName(folder)}</button></li>`)}
    </ul>
  </details>`;
}
