import { eachBatch, runInBatches } from './batch-run.ts';
import { chunks } from './chunks.ts';
import type { MailFolder } from './jmap-types.ts';
import { MailError, methods, type SetProblem, throwRefusals } from './jmap.ts';
import { folderByRole, loadFolders } from './mail-state.ts';
import { hideNotice, showNotice } from './notices.ts';
import { go } from './route.ts';
import { type FolderShare, setShare } from './shares.ts';
import { createdId } from './submission.ts';
import { dropLoadedThreads, refreshList } from './thread-list.ts';
import { t } from './translate.ts';

/** An email that was taken out of folders before they were deleted. */
export interface TakenEmail {
  id: string;
  /** Deleted folders that it was in. */
  from: readonly string[];
  /** True if it was moved to Trash, as no other folder had it. */
  inTrash: boolean;
}

/** Folders that a deletion removed, with their contents. */
export interface DeletedFolders {
  /** The folder and all below it, parents first. */
  folders: readonly MailFolder[];
  /** Emails that are not back yet. */
  emails: TakenEmail[];
  shares: readonly FolderShare[];
  /** The one of them that was open. */
  open: string | undefined;
}

/** Emails that one request moves. */
export const EMAILS_OF_REQUEST = 200;

/**
 * Creates deleted folders again, with their emails and shares. An email that was moved or deleted since stays as it is. After a
 * failure, another call goes on where this one stopped.
 */
export async function restoreFolders(deleted: DeletedFolders): Promise<void> {
  const { folders, emails, shares, open } = deleted;
  const [top] = folders;
  hideNotice();
  const ids = await createAgain(folders);
  const total = emails.length;
  await runInBatches(t('batch.restoring'), total, (control) =>
    eachBatch(control, chunks([...emails], EMAILS_OF_REQUEST), async (batch) => {
      await putBack(batch, ids);
      emails.splice(0, batch.length);
    }),
  );
  for (const share of shares) await setShare({ ...share, folder: ids.get(share.folder) ?? '' });
  dropLoadedThreads();
  await loadFolders();
  const opened = open === undefined ? undefined : ids.get(open);
  if (opened === undefined) await refreshList();
  else go({ folder: opened, search: '' });
  if (emails.length > 0)
    showNotice(t('batch.stopped', { done: total - emails.length, total }), () => restoreFolders(deleted));
  else showNotice(t('done.folder-restored', { folder: top?.name ?? '' }));
}

/** Creates folders again, parents first; one that has the name meanwhile is taken. Returns the new ids by the deleted ones. */
async function createAgain(folders: readonly MailFolder[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { id, name, parentId, sortOrder, isSubscribed } of folders) {
    const parent = parentId === null ? null : (ids.get(parentId) ?? parentId);
    const create = { [id]: { name, parentId: parent, sortOrder, isSubscribed } };
    const [result = {}] = await methods(['Mailbox/set', { create }]);
    const made = createdId(result, id) ?? refusalOf(result, id)?.existingId;
    if (made === undefined) throwRefusals(result, t('error.not-restored'));
    else ids.set(id, made);
  }
  return ids;
}

const refusalOf = (result: Record<string, unknown>, id: string): SetProblem | undefined =>
  ((result['notCreated'] ?? {}) as Record<string, SetProblem>)[id];

/** Puts emails back into their folders, unless they were moved out of Trash or deleted since. */
async function putBack(emails: readonly TakenEmail[], folderIds: ReadonlyMap<string, string>): Promise<void> {
  const trash = folderByRole('trash')?.id;
  if (trash === undefined) throw new MailError(t('error.not-restored'));
  const [found] = await methods(['Email/get', { ids: emails.map(({ id }) => id), properties: ['id', 'mailboxIds'] }]);
  const list = (found?.['list'] ?? []) as { id: string; mailboxIds: Record<string, boolean> }[];
  const now = new Map(list.map(({ id, mailboxIds }) => [id, mailboxIds]));
  const update = emails.flatMap(({ id, from, inTrash }): [string, Record<string, unknown>][] => {
    const mailboxIds = now.get(id);
    if (mailboxIds === undefined || (inTrash && mailboxIds[trash] !== true)) return [];
    const back = from.map((one): [string, true] => [`mailboxIds/${folderIds.get(one)}`, true]);
    return [[id, { ...Object.fromEntries(back), ...(inTrash && { [`mailboxIds/${trash}`]: null }) }]];
  });
  if (update.length === 0) return;
  const [result] = await methods(['Email/set', { update: Object.fromEntries(update) }]);
  throwRefusals(result ?? {}, t('error.not-restored'));
}
