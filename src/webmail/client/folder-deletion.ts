import { type BatchControl, runInBatches } from './batch-run.ts';
import { withSubfolders } from './folder-actions.ts';
import { roleName } from './folder-names.ts';
import { type DeletedFolders, EMAILS_OF_REQUEST, restoreFolders, type TakenEmail } from './folder-restore.ts';
import type { MailFolder } from './jmap-types.ts';
import { MailError, methods, throwRefusals } from './jmap.ts';
import { folderByRole, homeFolder, loadFolders } from './mail-state.ts';
import { showNotice, showProblem } from './notices.ts';
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
 * Moves the messages of a folder and its subfolders to Trash, then deletes them; the reader can take that back, also if it
 * was stopped or failed halfway. `count`: of its messages, for the progress. New mail that arrives meanwhile stops it.
 */
export async function deleteFolder(folder: MailFolder, count: number): Promise<void> {
  const folders = withSubfolders(folder);
  const ids = folders.map(({ id }) => id);
  const open = ids.find((id) => id === route.value.folder);
  const deleted: DeletedFolders = { folders, emails: [], shares: await readableShares(ids), open };
  const outcome: DeletionOutcome = { done: 0, total: count, isComplete: false, problem: '' };
  try {
    await runInBatches(t('batch.deleting-folder'), count, (control) => removeFolders(deleted, outcome, control));
  } catch (error) {
    if (!(error instanceof MailError) || deleted.emails.length === 0) throw error;
    outcome.problem = error.message;
  }
  dropLoadedThreads();
  if (outcome.isComplete && open !== undefined) go({ folder: homeFolder(), search: '' });
  await Promise.all([loadFolders(), refreshList()]);
  showOutcome(folder, outcome, () => restoreFolders(deleted));
}

/** Progress of a deletion, in messages. */
interface DeletionOutcome {
  done: number;
  total: number;
  isComplete: boolean;
  problem: string;
}

function showOutcome(
  folder: MailFolder,
  { done, total, isComplete, problem }: DeletionOutcome,
  undo: () => Promise<void>,
): void {
  if (problem !== '') showProblem(t('batch.failed', { done, total, why: problem }), undo);
  else if (isComplete) showNotice(t('done.folder-deleted', { folder: folder.name }), undo);
  else showNotice(t('batch.stopped', { done, total }), undo);
}

/** Empties folders and deletes them, unless the reader stops it. */
async function removeFolders(deleted: DeletedFolders, outcome: DeletionOutcome, control: BatchControl): Promise<void> {
  const { folders, emails } = deleted;
  const ids = folders.map(({ id }) => id);
  for (let slice = await takenOut(ids); slice.length > 0; slice = await takenOut(ids)) {
    if (control.isCancelled()) return;
    // Before the request: if its answer is lost, they may be in Trash all the same. The undo passes over those that are not.
    emails.push(...slice.map(({ taken }) => taken));
    await moveOut(slice);
    outcome.done += slice.length;
    outcome.total = Math.max(outcome.total, outcome.done);
    control.report(outcome.done, outcome.total);
  }
  if (control.isCancelled()) return;
  const [result] = await methods(['Mailbox/set', { destroy: ids }]);
  throwRefusals(result ?? {}, t('error.not-deleted'));
  outcome.isComplete = true;
}

/** An email that is to be taken out of folders, and the folders that it is in then. */
interface EmailMove {
  taken: TakenEmail;
  mailboxIds: Record<string, boolean>;
}

/** Some emails of folders; those that lie nowhere else go to Trash. None: the folders are empty. */
async function takenOut(folderIds: readonly string[]): Promise<EmailMove[]> {
  const [, found] = await methods(
    ['Email/query', { filter: inside(folderIds), limit: EMAILS_OF_REQUEST }],
    ['Email/get', { '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: ['id', 'mailboxIds'] }],
  );
  const emails = (found?.['list'] ?? []) as { id: string; mailboxIds: Record<string, boolean> }[];
  if (emails.length === 0) return [];
  const trash = folderByRole('trash')?.id;
  if (trash === undefined) throw new MailError(t('error.no-folder', { folder: roleName('trash') }));
  return emails.map(({ id, mailboxIds }) => {
    const [from, others] = [folderIds.filter((one) => mailboxIds[one]), without(mailboxIds, folderIds)];
    const inTrash = Object.keys(others).length === 0;
    return { taken: { id, from, inTrash }, mailboxIds: inTrash ? { [trash]: true } : others };
  });
}

async function moveOut(slice: readonly EmailMove[]): Promise<void> {
  const update = Object.fromEntries(slice.map(({ taken, mailboxIds }) => [taken.id, { mailboxIds }]));
  const [result] = await methods(['Email/set', { update }]);
  throwRefusals(result ?? {}, t('error.not-deleted'));
}

const without = (mailboxIds: Record<string, boolean>, ids: readonly string[]): Record<string, boolean> =>
  Object.fromEntries(Object.entries(mailboxIds).filter(([one]) => !ids.includes(one)));
