import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type AttachedFile, nextFileKey } from './attached-file.ts';
import { composition, type Composition, rememberPlain } from './compose-state.ts';
import {
  closeComposer,
  discardOpenDraft,
  isSending,
  recipientProblem,
  saveOpenDraft,
  sendComposition,
  sendingWarning,
} from './drafts.ts';
import { cleanMarkup, markupOfText } from './editor-html.ts';
import { plainTextOf } from './editor-text.ts';
import { editText, imagesOf, isEditing } from './editor.ts';
import { fileSize } from './format.ts';
import { Icon, IconButton } from './icons.ts';
import { upload } from './jmap.ts';
import { identities } from './mail-state.ts';
import { attempt } from './notices.ts';
import { outsideAmongInside } from './outside.ts';
import { RecipientField } from './recipient-field.ts';
import { type EditedText, RichText } from './rich-text.ts';
import { SendLater } from './send-later.ts';
import { withSignature } from './signature.ts';
import { TemplateMenu } from './template-menu.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

const SAVE_AFTER_MS = 2_000;
let saveTimer: ReturnType<typeof setTimeout> | undefined;

/** The time that was chosen before a warning. */
let later: Date | undefined;

const problem = signal('');
const warning = signal('');
const showsCopies = signal(false);

function edit(changed: Partial<Composition>): void {
  if (composition.value === undefined) return;
  composition.value = { ...composition.value, ...changed };
  [problem.value, warning.value] = ['', ''];
  clearTimeout(saveTimer);
  saveTimer = setTimeout(saveEdited, SAVE_AFTER_MS);
}

function saveEdited(): void {
  saveTimer = undefined;
  void attempt(saveOpenDraft);
}

/** Saves the newest text when the page is hidden, and asks before it is closed with text that is not saved. */
export function watchLeaving(): void {
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'hidden' || saveTimer === undefined || composition.value === undefined) return;
    clearTimeout(saveTimer);
    saveEdited();
  });
  addEventListener('beforeunload', (event) => {
    if (composition.value !== undefined && saveTimer !== undefined) event.preventDefault();
  });
}

function editFile(key: number, changed: Partial<AttachedFile> | null): void {
  const files = composition.value?.files ?? [];
  edit({
    files:
      changed === null
        ? files.filter((one) => one.key !== key)
        : files.map((one) => (one.key === key ? { ...one, ...changed } : one)),
  });
}

async function attach(chosen: Iterable<File>): Promise<void> {
  for (const file of chosen) {
    const key = nextFileKey();
    const { name, size, type } = file;
    edit({ files: [...(composition.value?.files ?? []), { key, name, size, type, blobId: undefined, done: 0 }] });
    try {
      const { blobId, type: stored } = await upload(file, (done) => editFile(key, { done }));
      editFile(key, { blobId, type: stored, done: 1 });
    } catch (error) {
      editFile(key, null);
      throw error;
    }
  }
}

/** Uploads images and shows them at the cursor. */
async function insertImages(chosen: readonly File[]): Promise<void> {
  for (const file of chosen) {
    const { name, size } = file;
    const { blobId, type } = await upload(file, () => undefined);
    const cid = `${crypto.randomUUID()}@web-mail`;
    const image = { key: nextFileKey(), name, size, type, blobId, done: 1, cid };
    edit({ files: [...(composition.value?.files ?? []), image] });
    editText.image(URL.createObjectURL(file), cid, name);
  }
}

/** Switches between formatted and plain text. */
function togglePlain({ markup, text }: Composition): void {
  rememberPlain(markup !== undefined);
  edit({ markup: markup === undefined ? markupOfText(text) : undefined });
}

function onEdited(edited: EditedText, typed: boolean): void {
  if (typed) edit(edited);
  else if (composition.value !== undefined) composition.value = { ...composition.value, text: edited.text };
}

/** Changes the sender, and the signature with them. */
function changeIdentity(identityId: string): void {
  const identity = identities.value.find(({ id }) => id === identityId);
  const before = composition.value?.markup;
  if (before === undefined) return edit({ identityId });
  const markup = withSignature(before, identity);
  editText.replace(markup);
  edit({ identityId, markup, text: plainTextOf(cleanMarkup(markup)) });
}

async function send(confirmed: boolean, at?: Date): Promise<void> {
  const composed = composition.value;
  if (composed === undefined || isSending.value) return;
  problem.value =
    recipientProblem(composed) ??
    (composed.files.some((one) => one.blobId === undefined) ? t('compose.uploading') : '');
  if (problem.value !== '') return;
  [warning.value, later] = [confirmed ? '' : (sendingWarning(composed) ?? ''), at];
  if (warning.value !== '') return;
  stopSaving();
  await sendComposition(at);
}

function stopSaving(): void {
  clearTimeout(saveTimer);
  saveTimer = undefined;
}

function close(): void {
  stopSaving();
  void closeComposer();
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send(false);
  else if (event.key === 'Escape') close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Inserts dropped images into formatted text, and attaches other files. */
function onDrop(event: DragEvent): void {
  event.preventDefault();
  const files = [...(event.dataTransfer?.files ?? [])];
  const images = isEditing() ? imagesOf(files) : [];
  void attempt(() => insertImages(images));
  void attempt(() => attach(files.filter((file) => !images.includes(file))));
}

/** The window in which a message is written. */
export function Composer() {
  const box = useRef<HTMLTextAreaElement>(null);
  const composed = composition.value;
  const isOpen = composed !== undefined;
  useEffect(() => {
    [problem.value, warning.value] = ['', ''];
    showsCopies.value = (composition.value?.cc ?? '') !== '' || (composition.value?.bcc ?? '') !== '';
    if (isOpen && composition.value?.to !== '') {
      box.current?.focus();
      box.current?.setSelectionRange(0, 0);
    }
  }, [isOpen]);
  if (composed === undefined) return null;
  const attached = composed.files.filter(({ cid }) => cid === undefined);
  return html`<section
    class="composer"
    role="dialog"
    aria-label=${t('compose.new')}
    onKeyDown=${onKeyDown}
    onDrop=${onDrop}
    onDragOver=${(event: Event) => event.preventDefault()}
  >
    <header>
      <h2>${composed.subject.trim() === '' ? t('compose.new') : composed.subject}</h2>
      <${IconButton} icon="close" label=${t('compose.close')} onClick=${close} />
    </header>
    <div class="fields">${fieldsOf(composed)}</div>
    ${outsideLine(composed)} ${textField(composed, box)}
    ${
      attached.length > 0 &&
      html`<ul class="files">
        ${attached.map(fileLine)}
      </ul>`
    }
    ${problem.value !== '' && html`<p class="problem" role="alert">${problem.value}</p>`}
    ${warning.value !== '' && warningLine(warning.value)} ${footerOf(composed)}
  </section>`;
}

function textField({ markup, text, to }: Composition, box: RefObject<HTMLTextAreaElement | null>) {
  if (markup !== undefined)
    return html`<${RichText} markup=${markup} onText=${onEdited} onImages=${insertImages} focus=${to !== ''} />`;
  return html`<textarea
    ref=${box}
    aria-label=${t('reader.message')}
    value=${text}
    onInput=${(event: Event) => edit({ text: (event.target as HTMLTextAreaElement).value })}
  ></textarea>`;
}

/** Names recipients outside of the organization, where others are inside. */
function outsideLine({ to, cc, bcc }: Composition) {
  const own = identities.value.map(({ email }) => email);
  const outside = outsideAmongInside([to, cc, bcc], own);
  return (
    outside.length > 0 &&
    html`<p class="outside" role="status">${t('compose.outside', { addresses: outside.join(', ') })}</p>`
  );
}

function fieldsOf(composed: Composition) {
  const { identityId, to, cc, bcc, subject } = composed;
  return html`
    ${
      identities.value.length > 1 &&
      html`<label class="line"
        ><span>${t('header.from')}</span>
        <select
          value=${identityId}
          onChange=${(event: Event) => changeIdentity((event.target as HTMLSelectElement).value)}
        >
          ${identities.value.map((one) => html`<option value=${one.id}>${one.name === '' ? one.email : `${one.name} <${one.email}>`}</option>`)}
        </select></label
      >`
    }
    <${RecipientField}
      name="to"
      label=${t('header.to')}
      value=${to}
      onChange=${(text: string) => edit({ to: text })}
      autofocus=${to === ''}
    />
    ${
      showsCopies.value
        ? html`<${RecipientField}
              name="cc"
              label=${t('header.cc')}
              value=${cc}
              onChange=${(text: string) => edit({ cc: text })}
            />
            <${RecipientField}
              name="bcc"
              label=${t('header.bcc')}
              value=${bcc}
              onChange=${(text: string) => edit({ bcc: text })}
            />`
        : html`<button type="button" class="link copies" onClick=${() => (showsCopies.value = true)}>
            ${t('compose.copies')}
          </button>`
    }
    <label class="line"
      ><span>${t('header.subject')}</span>
      <input
        value=${subject}
        maxlength="500"
        onInput=${(event: Event) => edit({ subject: (event.target as HTMLInputElement).value })}
    /></label>
  `;
}

function fileLine({ key, name, size, done, blobId }: AttachedFile) {
  return html`<li key=${key}>
    <span class="name">${name}</span> <span class="soft">${fileSize(size)}</span>
    ${blobId === undefined && html`<progress value=${done} aria-label=${t('compose.uploading-file', { file: name })}></progress>`}
    <${IconButton}
      icon="close"
      label=${t('compose.remove-file', { file: name })}
      onClick=${() => editFile(key, null)}
    />
  </li>`;
}

function warningLine(text: string) {
  return html`<p class="warning" role="alert">
    ${text}
    <button type="button" class="link" onClick=${() => void send(true, later)}>${t('compose.send-anyway')}</button>
  </p>`;
}

function footerOf(composed: Composition) {
  const choose = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    void attempt(() => attach([...(input.files ?? [])]));
    input.value = '';
  };
  return html`<footer>
    <button type="button" class="primary" disabled=${isSending.value} onClick=${() => void send(false)}>
      ${t('button.send')}
    </button>
    <${SendLater} onTime=${(at: Date) => void send(false, at)} />
    <label class="icon-button" title=${t('compose.attach')}>
      <${Icon} name="attach" /><span class="hidden">${t('compose.attach')}</span>
      <input type="file" multiple class="hidden" onChange=${choose} />
    </label>
    <${TemplateMenu} composed=${composed} onEdit=${edit} />
    <button type="button" class="link soft" onClick=${() => togglePlain(composed)}>
      ${composed.markup === undefined ? t('compose.formatted') : t('compose.plain')}
    </button>
    <span class="soft saved">${t('compose.drafts-are-saved')}</span>
    <${IconButton} icon="trash" label=${t('compose.delete-draft')} onClick=${() => void discardOpenDraft()} />
  </footer>`;
}
