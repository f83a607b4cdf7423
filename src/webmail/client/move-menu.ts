import { useRef } from 'preact/hooks';
import { moveEmails } from './actions.ts';
import { folderName } from './folder-names.ts';
import { Icon } from './icons.ts';
import { folders, type ThreadMember } from './mail-state.ts';
import { route } from './route.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** A menu of folders to move emails to. */
export function MoveMenu({ emails }: { emails: readonly ThreadMember[] }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const targets = folders.value.filter(({ id, role }) => id !== route.value.folder && role !== 'drafts');
  const move = (id: string, name: string): void => {
    menu.current?.removeAttribute('open');
    void moveEmails(emails, id, t('done.moved', { folder: name }));
  };
  return html`<details class="menu" ref=${menu}>
    <summary class="icon-button" title=${t('act.move')} aria-label=${t('act.move')}><${Icon} name="move" /></summary>
    <ul>
      ${targets.map((folder) => html`<li><button type="button" onClick=${() => move(folder.id, folderName(folder))}>${folderName(folder)}</button></li>`)}
    </ul>
  </details>`;
}
