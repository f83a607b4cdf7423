import { withSubfolders } from './folder-actions.ts';
import { roleName } from './folder-names.ts';
import { type DeletedFolders, EMAILS_OF_REQUEST, restoreFolders, type TakenEmail } from './folder-restore.ts';
import type { MailFolder } from './jmap-types.ts';
import { MailError, methods, throwRefusals } from './jmap.ts';
import { folderByRole, homeFolder, loadFolders } from './mail-state.ts';
import { showNotice } from './notices.ts';
import { go, route } from './route.ts';
import { readableShares } from './shares.ts';
import { dropLoadedThreads, refreshList } from './thread-list.ts';
import { t } from './translate.ts';

/** Effects of deleting a folder. */
export interface FolderDeletion {
  subfolders: number;
  /** Messages that move to Trash. */
  moved: number;
  /** Messages that lie in another folder as well. */
  staying: number;
}

/** Filter of the emails that lie in one of these folders. */
const inside = (ids: readonly string[]): Record<string, unknown> => ({
  operator: 'OR',
  conditions: ids.map((inMailbox) => ({ inMailbox })),
});

/** Counts what deleting a folder does, before it is confirmed. */
export async function countDeletion(folder: MailFolder): Promise<FolderDeletion> {
  const ids = withSubfolders(folder).map(({ id }) => id);
  const elsewhere = { operator: 'AND', conditions: [inside(ids), { inMailboxOtherThan: ids }] };
  const count = { calculateTotal: true, limit: 1 };
  const [all, kept] = await methods(
    ['Email/query', { filter: inside(ids), ...count }],
    ['Email/query', { filter: elsewhere, ...count }],
  );
  const staying = Number(kept?.['total'] ?? 0);
  return { subfolders: ids.length - 1, moved: Number(all?.['total'] ?? 0) - staying, staying };
}

/**
 * Moves the messages of a folder and its subfolders to Trash, then deletes them; the reader can take that back. New mail that
 * arrives meanwhile stops it.
 */
export async function deleteFolder(folder: MailFolder): Promise<void> {
  const folders = withSubfolders(folder);
  const ids = folders.map(({ id }) => id);
  const open = ids.find((id) => id === route.value.folder);
  const deleted: DeletedFolders = { folders, emails: [], shares: await readableShares(ids), open };
  for (let slice = await emptySlice(ids); slice.length > 0; slice = await emptySlice(ids))
    deleted.emails.push(...slice);
  const [result] = await methods(['Mailbox/set', { destroy: ids }]);
  throwRefusals(result ?? {}, t('error.not-deleted'));
  dropLoadedThreads();
  if (open !== undefined) go({ folder: homeFolder(), search: '' });
  await Promise.all([loadFolders(), refreshList()]);
  showNotice(t('done.folder-deleted', { folder: folder.name }), () => restoreFolders(deleted));
}

/** Takes some emails out of folders; those that lie nowhere else go to Trash. Returns them; none: the folders are empty. */
async function emptySlice(folderIds: readonly string[]): Promise<TakenEmail[]> {
  const [, found] = await methods(
    ['Email/query', { filter: inside(folderIds), limit: EMAILS_OF_REQUEST }],
    ['Email/get', { '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: ['id', 'mailboxIds'] }],
  );
  const emails = (found?.['list'] ?? []) as { id: string; mailboxIds: Record<string, boolean> }[];
  if (emails.length === 0) return [];
  const trash = folderByRole('trash')?.id;
  if (trash === undefined) throw new MailError(t('error.no-folder', { folder: roleName('trash') }));
  const update: Record<string, { mailboxIds: Record<string, boolean> }> = {};
  const taken = emails.map(({ id, mailboxIds }): TakenEmail => {
    const [from, others] = [folderIds.filter((one) => mailboxIds[one]), without(mailboxIds, folderIds)];
    const inTrash = Object.keys(others).length === 0;
    update[id] = { mailboxIds: inTrash ? { [trash]: true } : others };
    return { id, from, inTrash };
  });
  const [result] = await methods(['Email/set', { update }]);
  throwRefusals(result ?? {}, t('error.not-deleted'));
  return taken;
}

const without = (mailboxIds: Record<string, boolean>, ids: readonly string[]): Record<string, boolean> =>
  Object.fromEntries(Object.entries(mailboxIds).filter(([one]) => !ids.includes(one)));
