import { signal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { createFolder, renameFolder } from './folder-actions.ts';
import { countDeletion, deleteFolder, type FolderDeletion } from './folder-deletion.ts';
import { folderName, roleName } from './folder-names.ts';
import type { MailFolder } from './jmap-types.ts';
import { MailError } from './jmap.ts';
import { folderByRole } from './mail-state.ts';
import { ModalDialog } from './modal.ts';
import { attempt } from './notices.ts';
import { ShareDialog } from './share-dialog.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** A question about a folder. `folder` is the parent of a new one; undefined: at the top. */
export type FolderQuestion =
  { kind: 'create'; folder?: MailFolder | undefined } | { kind: 'rename' | 'share' | 'delete'; folder: MailFolder };

const question = signal<FolderQuestion | undefined>(undefined);

/** Opens the dialog that creates, renames, shares or deletes a folder. */
export function askAboutFolder(next: FolderQuestion): void {
  question.value = next;
}

const close = (): void => {
  question.value = undefined;
};

/** The dialog about a folder, if one is open. */
export function FolderDialog() {
  const { value: open } = question;
  if (open === undefined) return null;
  if (open.kind === 'share') return html`<${ShareDialog} folder=${open.folder} onClose=${close} />`;
  if (open.kind === 'delete') return html`<${DeleteForm} folder=${open.folder} />`;
  return html`<${NameForm} kind=${open.kind} folder=${open.folder} />`;
}

interface ModalProps {
  title: string;
  button: string;
  isReady: boolean;
  onSubmit: (form: FormData) => Promise<void>;
  children?: ComponentChild;
}

/** A modal form. It closes once its action is done; a failure is shown in it. */
function Modal({ title, button, isReady, onSubmit, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy || !isReady) return;
    setBusy(true);
    setProblem('');
    try {
      await onSubmit(new FormData(event.target as HTMLFormElement));
      dialog.current?.close();
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return html`<${ModalDialog} title=${title} dialog=${dialog} onClose=${close}>
    <form onSubmit=${submit}>
      ${children} ${problem !== '' && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="buttons">
        <button class="primary" disabled=${isBusy || !isReady}>${button}</button>
        <button type="button" onClick=${() => dialog.current?.close()}>${t('button.cancel')}</button>
      </div>
    </form>
  <//>`;
}

function NameForm({ kind, folder }: { kind: 'create' | 'rename'; folder: MailFolder | undefined }) {
  const isRename = kind === 'rename' && folder !== undefined;
  const shown = folder === undefined ? '' : folderName(folder);
  const title = isRename
    ? t('folder.rename-one', { folder: shown })
    : folder === undefined
      ? t('folder.new')
      : t('folder.new-in', { folder: shown });
  const save = async (form: FormData): Promise<void> => {
    const typed = form.get('name');
    const name = typeof typed === 'string' ? typed.trim() : '';
    if (name === '') throw new MailError(t('folder.no-name'));
    if (isRename) await renameFolder(folder, name);
    else await createFolder(name, folder?.id ?? null);
  };
  return html`<${Modal}
    title=${title}
    button=${isRename ? t('folder.rename') : t('button.create')}
    isReady=${true}
    onSubmit=${save}
  >
    <label class="field"
      >${t('folder.name')}
      <input
        name="name"
        value=${isRename ? folder.name : ''}
        maxlength="200"
        autocomplete="off"
        autofocus
        onFocus=${(event: Event) => (event.target as HTMLInputElement).select()}
    /></label>
  <//>`;
}

function DeleteForm({ folder }: { folder: MailFolder }) {
  const [counted, setCounted] = useState<FolderDeletion>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    countDeletion(folder).then(setCounted, (error: Error) => setProblem(error.message));
  }, [folder.id]);
  // The dialog closes at once: behind it the deletion could not be stopped.
  const start = (): Promise<void> => {
    if (counted !== undefined) void attempt(() => deleteFolder(folder, counted.moved + counted.staying));
    return Promise.resolve();
  };
  return html`<${Modal}
    title=${t('folder.delete-one', { folder: folderName(folder) })}
    button=${t('folder.delete')}
    isReady=${counted !== undefined}
    onSubmit=${start}
  >
    <div role="status">
      ${counted === undefined ? html`<p class="soft">${problem === '' ? t('folder.counting') : problem}</p>` : consequences(counted)}
    </div>
  <//>`;
}

/** Says what happens to the messages and the subfolders. */
function consequences({ subfolders, moved, staying }: FolderDeletion) {
  const trash = folderByRole('trash');
  const name = trash === undefined ? roleName('trash') : folderName(trash);
  return html`
    ${subfolders > 0 && html`<p>${t('folder.subfolders', { count: subfolders })}</p>`}
    ${moved > 0 && html`<p>${t('folder.to-trash', { count: moved, folder: name })}</p>`}
    ${staying > 0 && html`<p>${t('folder.stay', { count: staying })}</p>`}
    ${moved + staying === 0 && html`<p>${t('folder.no-messages')}</p>`}
  `;
}
