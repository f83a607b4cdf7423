import { signal } from '@preact/signals';
import { setKeyword, withOpenThread } from './actions.ts';
import { compose, composeForward, composeReply, composition } from './compose-state.ts';
import { stepThread } from './list-pane.ts';
import type { FullEmail } from './jmap-types.ts';
import { folderByRole } from './mail-state.ts';
import type { PlainKey } from './message-types.ts';
import { go, route } from './route.ts';
import { fileThread } from './thread-pane.ts';
import { attempt, undoLast } from './notices.ts';
import { toggleSelected, toggleWholeList } from './selection.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

export const showsHelp = signal(false);

interface Shortcut {
  key: string;
  does: PlainKey;
  run: () => void;
}

const withLast = (action: (email: FullEmail) => void | Promise<void>): Promise<void> =>
  withOpenThread((emails) => emails.slice(-1).map(action)[0]);
/** The last message that is no draft of one's own. */
const withLastSent = (action: (email: FullEmail) => void | Promise<void>): Promise<void> =>
  withOpenThread((emails) => {
    const email = emails.findLast(({ keywords }) => keywords['$draft'] !== true);
    return email && action(email);
  });
const answer = (all: boolean): void => {
  void withLastSent((email) => composeReply(email, all));
};
const openRole = (role: string): void => {
  const folder = folderByRole(role);
  if (folder !== undefined) go({ folder: folder.id, search: '' });
};

/** Opens a menu of the selection, or of the open thread. */
function openBarMenu(name: 'snooze' | 'move'): void {
  const menu = document.querySelector<HTMLDetailsElement>(`.selection .${name}, .thread-bar .${name}`);
  if (menu === null) return;
  menu.open = true;
  menu.querySelector<HTMLElement>('button')?.focus();
}

/** Selects the conversation that has the focus in the list, else the open one. */
function selectThread(): void {
  const focused = document.activeElement?.closest('.row')?.querySelector<HTMLElement>('[data-thread]')?.dataset[
    'thread'
  ];
  const thread = focused ?? route.value.thread;
  if (thread !== undefined) toggleSelected(thread);
}

const SHORTCUTS: readonly Shortcut[] = [
  { key: 'j', does: 'keys.next', run: () => stepThread(1) },
  { key: 'k', does: 'keys.previous', run: () => stepThread(-1) },
  { key: 'u', does: 'act.back', run: () => go({}) },
  { key: 'c', does: 'keys.write', run: () => compose() },
  { key: 'r', does: 'act.reply', run: () => answer(false) },
  { key: 'a', does: 'act.reply-all', run: () => answer(true) },
  { key: 'f', does: 'act.forward', run: () => void withLastSent(composeForward) },
  { key: 'e', does: 'act.archive', run: () => void fileThread('archive') },
  { key: '!', does: 'act.junk', run: () => void fileThread('junk') },
  { key: '#', does: 'act.trash', run: () => void fileThread('trash') },
  { key: 'b', does: 'act.snooze', run: () => openBarMenu('snooze') },
  { key: 'v', does: 'act.move', run: () => openBarMenu('move') },
  { key: 's', does: 'act.star', run: () => void withLast((email) => setKeyword([email], '$flagged', true)) },
  { key: 'x', does: 'keys.select', run: selectThread },
  { key: '*', does: 'keys.select-all', run: toggleWholeList },
  { key: 'z', does: 'button.undo', run: () => void attempt(undoLast) },
  { key: '/', does: 'search.label', run: () => document.querySelector<HTMLInputElement>('#search')?.focus() },
  { key: 'i', does: 'keys.inbox', run: () => openRole('inbox') },
  { key: '?', does: 'keys.help', run: () => (showsHelp.value = true) },
];

/** Listens for single keys outside of fields. */
export function watchKeyboard(): void {
  addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.key === 'Escape') return onEscape();
    if (event.ctrlKey || event.metaKey || event.altKey || composition.value !== undefined) return;
    if (/^(?:input|textarea|select)$/i.test(target.tagName) && (target as HTMLInputElement).type !== 'checkbox') return;
    const shortcut = SHORTCUTS.find(({ key }) => key === event.key);
    if (shortcut === undefined) return;
    event.preventDefault();
    shortcut.run();
  });
}

function onEscape(): void {
  if (showsHelp.value) showsHelp.value = false;
  else if (route.value.thread !== undefined && composition.value === undefined) go({});
}

/** The list of shortcuts. */
export function ShortcutHelp() {
  if (!showsHelp.value) return null;
  const close = (): void => {
    showsHelp.value = false;
  };
  return html`<div class="backdrop" onClick=${close}>
    <div
      class="dialog"
      role="dialog"
      aria-modal="true"
      aria-labelledby="help-title"
      onClick=${(event: Event) => event.stopPropagation()}
    >
      <h2 id="help-title">${t('keys.title')}</h2>
      <dl class="shortcuts">
        ${SHORTCUTS.map(
          ({ key, does }) =>
            html`<div>
              <dt><kbd>${key}</kbd></dt>
              <dd>${t(does)}</dd>
            </div>`,
        )}
        <div>
          <dt><kbd>${t('keys.control')}</kbd> <kbd>${t('keys.enter')}</kbd></dt>
          <dd>${t('keys.send')}</dd>
        </div>
      </dl>
      <div class="buttons">
        <button type="button" class="primary" autofocus onClick=${close}>${t('button.close')}</button>
      </div>
    </div>
  </div>`;
}
