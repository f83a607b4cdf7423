import { signal } from '@preact/signals';
import { setKeyword, withOpenThread } from './actions.ts';
import { compose, composeForward, composeReply, composition } from './compose-state.ts';
import { stepThread } from './list-pane.ts';
import type { FullEmail } from './jmap-types.ts';
import { folderByRole } from './mail-state.ts';
import { go, route } from './route.ts';
import { fileThread } from './thread-pane.ts';
import { attempt, undoLast } from './notices.ts';
import { html } from './view.ts';

export const showsHelp = signal(false);

interface Shortcut {
  key: string;
  does: string;
  run: () => void;
}

const withLast = (action: (email: FullEmail) => void | Promise<void>): Promise<void> =>
  withOpenThread((emails) => emails.slice(-1).map(action)[0]);
const answer = (all: boolean): void => {
  void withLast((email) => composeReply(email, all));
};
const openRole = (role: string): void => {
  const folder = folderByRole(role);
  if (folder !== undefined) go({ folder: folder.id, search: '' });
};

const SHORTCUTS: readonly Shortcut[] = [
  { key: 'j', does: 'Next conversation', run: () => stepThread(1) },
  { key: 'k', does: 'Previous conversation', run: () => stepThread(-1) },
  { key: 'u', does: 'Back to the list', run: () => go({}) },
  { key: 'c', does: 'Write a message', run: () => compose() },
  { key: 'r', does: 'Reply', run: () => answer(false) },
  { key: 'a', does: 'Reply to all', run: () => answer(true) },
  { key: 'f', does: 'Forward', run: () => void withLast(composeForward) },
  { key: 'e', does: 'Archive', run: () => void fileThread('archive') },
  { key: '!', does: 'Report as junk', run: () => void fileThread('junk') },
  { key: '#', does: 'Move to trash', run: () => void fileThread('trash') },
  { key: 's', does: 'Add star', run: () => void withLast((email) => setKeyword([email], '$flagged', true)) },
  { key: 'z', does: 'Undo', run: () => void attempt(undoLast) },
  { key: '/', does: 'Search', run: () => document.querySelector<HTMLInputElement>('#search')?.focus() },
  { key: 'i', does: 'Open the inbox', run: () => openRole('inbox') },
  { key: '?', does: 'Show the shortcuts', run: () => (showsHelp.value = true) },
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
      <h2 id="help-title">Keyboard shortcuts</h2>
      <dl class="shortcuts">
        ${SHORTCUTS.map(
          ({ key, does }) =>
            html`<div>
              <dt><kbd>${key}</kbd></dt>
              <dd>${does}</dd>
            </div>`,
        )}
        <div>
          <dt><kbd>Ctrl</kbd> <kbd>Enter</kbd></dt>
          <dd>Send the message</dd>
        </div>
      </dl>
      <div class="buttons"><button type="button" class="primary" autofocus onClick=${close}>Close</button></div>
    </div>
  </div>`;
}
