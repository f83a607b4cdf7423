import { signal } from '@preact/signals';
import { composition, type Composition, savedContent } from './compose-state.ts';
import { emailOfDraft } from './drafts.ts';
import { markupOfText } from './editor-html.ts';
import { editText } from './editor.ts';
import type { MailFolder } from './jmap-types.ts';
import { MailError, maxObjects, methods, throwRefusals } from './jmap.ts';
import { folderByRole, folders, loadFolders } from './mail-state.ts';
import { showNotice } from './notices.ts';
import { composedWithoutSignature } from './signature.ts';
import { createdId } from './submission.ts';
import { loadEmail } from './thread-list.ts';
import { t } from './translate.ts';

/** The folder that other mail programs look for templates in. */
const FOLDER = 'Templates';
/** The keyword of a template. */
export const TEMPLATE = '$template';

export interface MessageTemplate {
  id: string;
  subject: string;
}

/** Templates in the order of their names; undefined until they are loaded. */
export const templates = signal<readonly MessageTemplate[] | undefined>(undefined);
/** All templates of the folder: only the newest are listed if it has more than one request reads. */
export const templateTotal = signal(0);

const templatesFolder = (): MailFolder | undefined =>
  folderByRole('templates') ?? folders.value.find(({ parentId, name }) => parentId === null && name === FOLDER);

export async function loadTemplates(): Promise<void> {
  const inMailbox = templatesFolder()?.id;
  if (inMailbox === undefined) {
    templates.value = [];
    templateTotal.value = 0;
    return;
  }
  const sort = [{ property: 'receivedAt', isAscending: false }];
  const [query, found] = await methods(
    ['Email/query', { filter: { inMailbox }, sort, limit: maxObjects().get, calculateTotal: true }],
    ['Email/get', { '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: ['id', 'subject'] }],
  );
  const list = templatesOf(found?.['list']);
  templateTotal.value = Number(query?.['total'] ?? list.length);
  templates.value = list.toSorted((a, b) => a.subject.localeCompare(b.subject));
}

/** Saves a message as a template, without its signature. One of the same subject is replaced. */
export async function saveTemplate(composed: Composition): Promise<void> {
  const subject = composed.subject.trim();
  if (subject === '') throw new MailError(t('compose.template-subject'));
  const folder = await ensureFolder();
  await loadTemplates();
  const earlier = await templatesNamed(subject, folder);
  const content = { ...composed, ...composedWithoutSignature(composed), subject, inReplyTo: [], references: [] };
  const create = { template: emailOfDraft(content, folder, { [TEMPLATE]: true, $seen: true }) };
  const [result] = await methods(['Email/set', { create }]);
  throwRefusals(result ?? {}, t('error.not-saved'));
  await discard(earlier, folder);
  await loadTemplates();
  const name = { name: subject };
  showNotice(earlier.length > 0 ? t('compose.template-replaced', name) : t('compose.template-saved', name));
}

/** Templates of a subject, also behind those that are listed. */
async function templatesNamed(subject: string, inMailbox: string): Promise<string[]> {
  const listed = templates.value ?? [];
  const all = listed.length < templateTotal.value ? await foundBy(subject, inMailbox) : [];
  return [...new Set([...listed, ...all].filter((one) => one.subject === subject).map(({ id }) => id))];
}

/** Templates whose subjects have the words of a subject. */
async function foundBy(subject: string, inMailbox: string): Promise<MessageTemplate[]> {
  const [, found] = await methods(
    ['Email/query', { filter: { inMailbox, subject }, limit: maxObjects().get }],
    ['Email/get', { '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: ['id', 'subject'] }],
  );
  return templatesOf(found?.['list']);
}

/** Templates of a response to Email/get. */
function templatesOf(list: unknown): MessageTemplate[] {
  const emails = (list ?? []) as { id: string; subject: string | null }[];
  return emails.map(({ id, subject }) => ({ id, subject: subject ?? '' }));
}

/** The id of the folder for templates, which is created with the first one. */
async function ensureFolder(): Promise<string> {
  const known = templatesFolder()?.id;
  if (known !== undefined) return known;
  const [result] = await methods(['Mailbox/set', { create: { folder: { name: FOLDER, parentId: null } } }]);
  throwRefusals(result ?? {}, t('error.not-saved'));
  await loadFolders();
  return createdId(result, 'folder') ?? '';
}

/** Moves replaced templates to Trash; without a Trash they stay. */
async function discard(ids: readonly string[], folder: string): Promise<void> {
  const trash = folderByRole('trash')?.id;
  if (ids.length === 0 || trash === undefined) return;
  const patch = { [`mailboxIds/${folder}`]: null, [`mailboxIds/${trash}`]: true };
  const [result] = await methods(['Email/set', { update: Object.fromEntries(ids.map((id) => [id, patch])) }]);
  throwRefusals(result ?? {}, t('error.not-changed'));
}

/** Inserts a template at the cursor. Its subject and recipients fill fields that are empty. */
export async function insertTemplate(id: string, edit: (changed: Partial<Composition>) => void): Promise<void> {
  const email = await loadEmail(id);
  if (email === undefined) return loadTemplates();
  const template = await savedContent(email);
  const composed = composition.value;
  if (composed === undefined) return;
  const filled = (name: 'to' | 'cc' | 'bcc' | 'subject'): string =>
    composed[name].trim() === '' ? template[name] : composed[name];
  const isPlain = composed.markup === undefined;
  // A plain text shows no images: they are attached.
  const files = template.files.map((file) => (isPlain ? { ...file, cid: undefined } : file));
  edit({
    to: filled('to'),
    cc: filled('cc'),
    bcc: filled('bcc'),
    subject: filled('subject'),
    files: [...composed.files, ...files],
    ...(isPlain && { text: insertPlain(composed.text, template.text) }),
  });
  if (!isPlain) editText.paste(template.markup ?? markupOfText(template.text), template.text);
}

function insertPlain(text: string, inserted: string): string {
  const at = document.querySelector<HTMLTextAreaElement>('.composer textarea')?.selectionStart ?? 0;
  return text.slice(0, at) + inserted + text.slice(at);
}
