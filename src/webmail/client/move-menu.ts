import { useRef } from 'preact/hooks';
import { moveEmails } from './actions.ts';
import { Icon } from './icons.ts';
import { folders, type ThreadMember } from './mail-state.ts';
import { route } from './route.ts';
import { html } from './view.ts';

/** A menu of folders to move emails to. */
export function MoveMenu({ emails }: { emails: readonly ThreadMember[] }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const targets = folders.value.filter(({ id, role }) => id !== route.value.folder && role !== 'drafts');
  const move = (id: string, name: string): void => {
    menu.current?.removeAttribute('open');
    void moveEmails(emails, id, `Moved to "${name}".`);
  };
  return html`<details class="menu" ref=${menu}>
    <summary class="icon-button" title="Move to folder" aria-label="Move to folder"><${Icon} name="move" /></summary>
    <ul>
      ${targets.map(({ id, name }) => html`<li><button type="button" onClick=${() => move(id, name)}>${name}</button></li>`)}
    </ul>
  </details>`;
}
