import type { MailFolder } from './jmap-types.ts';
import { MailError, methods, type SetProblem, throwRefusals } from './jmap.ts';
import { folders, loadFolders } from './mail-state.ts';
import { showNotice } from './notices.ts';
import { go } from './route.ts';
import { createdId } from './submission.ts';
import { t } from './translate.ts';

/** Creates a folder below another one, or at the top for null. */
export async function createFolder(name: string, parentId: string | null): Promise<void> {
  const [result] = await methods(['Mailbox/set', { create: { folder: { name, parentId } } }]);
  throwNameProblem(result ?? {}, 'notCreated', name);
  await loadFolders();
  const id = createdId(result, 'folder');
  if (id !== undefined) go({ folder: id, search: '' });
  showNotice(t('done.folder-created', { folder: name }));
}

/** Gives a folder another name. */
export async function renameFolder({ id }: MailFolder, name: string): Promise<void> {
  const [result] = await methods(['Mailbox/set', { update: { [id]: { name } } }]);
  throwNameProblem(result ?? {}, 'notUpdated', name);
  await loadFolders();
  showNotice(t('done.folder-renamed', { folder: name }));
}

/** Throws the refusal of a name; that it is taken, in the language of the page. */
function throwNameProblem(result: Record<string, unknown>, key: string, name: string): void {
  const [refusal] = Object.values((result[key] ?? {}) as Record<string, SetProblem>);
  if (refusal?.type === 'alreadyExists') throw new MailError(t('folder.name-taken', { folder: name }));
  throwRefusals(result, t('error.not-saved'));
}

/** A folder and all below it. */
export function withSubfolders(folder: MailFolder): MailFolder[] {
  const below = folders.value.filter(({ parentId }) => parentId === folder.id);
  return [folder, ...below.flatMap(withSubfolders)];
}

/** The special folder that keeps a folder from being deleted: itself, or one below it. */
export function specialWithin(folder: MailFolder): MailFolder | undefined {
  return withSubfolders(folder).find(({ role }) => role !== null);
}
