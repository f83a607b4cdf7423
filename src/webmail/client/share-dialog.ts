import { useEffect, useRef, useState } from 'preact/hooks';
import { suggestAddresses } from './contacts.ts';
import { folderName } from './folder-names.ts';
import type { MailFolder } from './jmap-types.ts';
import { MailError } from './jmap.ts';
import { ownDomains } from './mail-state.ts';
import { ModalDialog } from './modal.ts';
import { RequestQueue } from './request-queue.ts';
import { ACCESS_WORDS, type FolderShare, loadShares, setShare, type ShareAccess } from './shares.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** A change of one share. */
interface ShareChange {
  address: string;
  access: FolderShare['access'] | 'none';
  /** For `custom`: letters of RFC 4314. */
  rights?: string;
}

/** Text about a change that was made, with the change that takes it back. */
interface DoneChange {
  text: string;
  undo: ShareChange;
}

/** Changes leave one after the other: arrow keys in a list choose several in turn, and the last one counts. */
const changes = new RequestQueue(1);
let lastChange = 0;

/** Lists who may do what in a folder, and changes it. */
export function ShareDialog({ folder, onClose }: { folder: MailFolder; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { shares, problem, done, apply } = useShares(folder.id);
  const change = async (next: ShareChange): Promise<boolean> => {
    const isDone = await apply(next);
    // The line of a share that ended is gone, and the focus with it.
    if (isDone && next.access === 'none') dialog.current?.querySelector<HTMLElement>('input')?.focus();
    return isDone;
  };
  return html`<${ModalDialog}
    title=${t('share.title', { folder: folderName(folder) })}
    dialog=${dialog}
    onClose=${onClose}
  >
    <p class="soft">${t('share.hint')}</p>
    ${
      shares === undefined
        ? problem === '' && html`<p class="soft">${t('list.loading')}</p>`
        : html`<${ShareList} shares=${shares} onChange=${change} />`
    }
    <${ShareForm} isReady=${shares !== undefined} onChange=${change} onClose=${() => dialog.current?.close()} />
    <div class="share-done" role="status">${done && html`<${DoneLine} done=${done} onUndo=${apply} />`}</div>
    ${problem !== '' && html`<p class="problem" role="alert">${problem}</p>`}
  <//>`;
}

function DoneLine({ done: { text, undo }, onUndo }: { done: DoneChange; onUndo: ShareListProps['onChange'] }) {
  return html`<span>${text}</span>
    <button type="button" class="link" onClick=${() => void onUndo(undo)}>${t('button.undo')}</button>`;
}

/** The shares of a folder, and a function that changes one of them; false if that failed. */
function useShares(folder: string) {
  const [shares, setShares] = useState<readonly FolderShare[]>();
  const [problem, setProblem] = useState('');
  const [done, setDone] = useState<DoneChange>();
  const keep = (all: readonly FolderShare[]): void => setShares(all.filter((one) => one.folder === folder));
  const attempt = async (action: () => Promise<void>): Promise<boolean> => {
    setProblem('');
    try {
      await action();
      return true;
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      setProblem(error.message);
      return false;
    }
  };
  useEffect(() => {
    void attempt(async () => keep(await loadShares()));
  }, [folder]);
  const apply = (change: ShareChange): Promise<boolean> =>
    attempt(async () => {
      const before = shares?.find(({ address }) => address === change.address);
      // The undo of an earlier change would take back another one than the last.
      setDone(undefined);
      const number = ++lastChange;
      const all = await changes.run(() => setShare({ folder, ...change }));
      // An earlier answer would turn the list back under the reader.
      if (number !== lastChange) return;
      keep(all);
      setDone({ text: doneText(change), undo: undoOf(change, before) });
    });
  return { shares, problem, done, apply };
}

const doneText = ({ address, access }: ShareChange): string =>
  access === 'none' ? t('share.ended', { address }) : t('share.done', { address });

/** The change that takes another one back. A share that is new is ended again. */
function undoOf({ address }: ShareChange, before: FolderShare | undefined): ShareChange {
  return before === undefined ? { address, access: 'none' } : { address, access: before.access, rights: before.rights };
}

interface ShareListProps {
  shares: readonly FolderShare[];
  onChange: (change: ShareChange) => Promise<boolean>;
}

function ShareList({ shares, onChange }: ShareListProps) {
  if (shares.length === 0) return html`<p>${t('share.nobody')}</p>`;
  return html`<ul class="shares">
    ${shares.map((share) => html`<${ShareLine} key=${share.address} share=${share} onChange=${onChange} />`)}
  </ul>`;
}

function ShareLine({ share, onChange }: { share: FolderShare; onChange: ShareListProps['onChange'] }) {
  const { address, access, rights } = share;
  const choose = (event: Event): void => {
    void onChange({ address, access: (event.target as HTMLSelectElement).value as ShareAccess });
  };
  return html`<li>
    <span class="name" title=${address}>${address}</span>
    <select aria-label=${t('share.may-one', { address })} value=${access} onChange=${choose}>
      ${access === 'custom' && html`<option value="custom" disabled>${t('share.custom', { rights })}</option>`}
      <${AccessOptions} />
    </select>
    <button
      type="button"
      class="small"
      aria-label=${t('share.remove-one', { address })}
      onClick=${() => void onChange({ address, access: 'none' })}
    >
      ${t('button.remove')}
    </button>
  </li>`;
}

const AccessOptions = () =>
  ACCESS_WORDS.map(([access, words]) => html`<option key=${access} value=${access}>${t(words)}</option>`);

interface ShareFormProps extends Pick<ShareListProps, 'onChange'> {
  isReady: boolean;
  onClose: () => void;
}

/** A form that shares the folder with another colleague, and a button that closes the dialog. */
function ShareForm({ isReady, onChange, onClose }: ShareFormProps) {
  const [suggested, setSuggested] = useState<readonly string[]>([]);
  const suggest = (event: Event): void => {
    colleagues((event.target as HTMLInputElement).value).then(setSuggested, () => setSuggested([]));
  };
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const { address, access } = Object.fromEntries(new FormData(form)) as { address: string; access: ShareAccess };
    if (await onChange({ address: address.trim(), access })) form.reset();
  };
  return html`<form class="add-share" onSubmit=${add}>
    <label class="field"
      >${t('share.address')}
      <input
        name="address"
        inputmode="email"
        required
        maxlength="320"
        autocomplete="off"
        list="share-colleagues"
        autofocus
        onInput=${suggest}
    /></label>
    <datalist id="share-colleagues">
      ${suggested.map((one) => html`<option key=${one} value=${one}></option>`)}
    </datalist>
    <label class="field"
      >${t('share.may')}
      <select name="access">
        <${AccessOptions} />
      </select>
    </label>
    <div class="buttons">
      <button class="primary" disabled=${!isReady}>${t('share.share')}</button>
      <button type="button" onClick=${onClose}>${t('button.close')}</button>
    </div>
  </form>`;
}

/** Addresses of past mail that may be of colleagues: those of the reader's domains. */
async function colleagues(text: string): Promise<string[]> {
  const found = await suggestAddresses(text);
  const domains = ownDomains();
  return found
    .map(({ email }) => email.toLowerCase())
    .filter((email) => domains.has(email.slice(email.lastIndexOf('@') + 1)));
}
