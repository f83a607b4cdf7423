import { loadAgents } from './agents.ts';
import { destroyInBatches, emailsInFolder, sendPatches, withoutOwn } from './email-changes.ts';
import { type EmailChanges, type EmailPatch, keywordChanges, moveChanges } from './email-patches.ts';
import { folderName, roleName } from './folder-names.ts';
import type { FullEmail } from './jmap-types.ts';
import { MailError } from './jmap.ts';
import { folderByRole, folders, loadedThread, openThread, type ThreadMember } from './mail-state.ts';
import { attempt, hideNotice, showNotice } from './notices.ts';
import { type KeywordChange, showWhile, withKeyword, withPending } from './pending-keywords.ts';
import { RequestQueue } from './request-queue.ts';
import { may } from './rights.ts';
import { route } from './route.ts';
import { clearSelection } from './selection.ts';
import { dropLoadedThreads, keepKeywordInList, loadThread, refreshList } from './thread-list.ts';
import { t } from './translate.ts';

/** Changes emails; the reader sees what was done and can take it back. */
async function change({ patches, undo }: EmailChanges, text: string): Promise<void> {
  if (patches.size > 0) await sendPatches(patches);
  // Before the list is read: a reader whose row disappears may press Undo at once.
  showNotice(text, async () => {
    await update(undo);
    hideNotice();
  });
  if (patches.size > 0) await readAgain();
}

async function update(patches: ReadonlyMap<string, EmailPatch>): Promise<void> {
  if (patches.size === 0) return;
  await sendPatches(patches);
  await readAgain();
}

/** Reads what is shown again, after a change. */
export async function readAgain(): Promise<void> {
  dropLoadedThreads();
  await Promise.all([refreshList(), reloadThread()]);
}

let readings = 0;

/** Reads the open thread again. An answer that a newer reading has overtaken would show what was changed meanwhile. */
export async function reloadThread(): Promise<void> {
  const { thread } = route.value;
  if (thread === undefined || openThread.value.length === 0) return;
  const reading = ++readings;
  const [emails] = await Promise.all([loadThread(thread, true), loadAgents(thread)]);
  if (reading === readings && loadedThread.value.id === thread) loadedThread.value = { id: thread, emails };
}

/**
 * Runs an action on the emails of the open thread. A key can be pressed before the thread is loaded: the action waits for
 * it, as it would be lost otherwise.
 */
export function withOpenThread(action: (emails: readonly FullEmail[]) => void | Promise<void>): Promise<void> {
  return attempt(async () => {
    const { thread } = route.value;
    if (thread === undefined) return;
    const emails = openThread.value.length > 0 ? openThread.value : await loadThread(thread);
    if (emails.length > 0) await action(emails);
  });
}

/** Emails of the thread that lie in the folder that is open; in a search, those that were received and are not deleted. */
export function inOpenFolder(emails: readonly ThreadMember[]): ThreadMember[] {
  return emailsInFolder(emails, route.value.folder);
}

/** True if emails can be taken out of the open folder. */
export const mayTake = (emails: readonly ThreadMember[]): boolean => may('mayRemoveItems', inOpenFolder(emails));

/** True if emails can be moved to the folder for a role. */
export function mayFile(role: string, emails: readonly ThreadMember[]): boolean {
  return folderByRole(role)?.myRights.mayAddItems === true && mayTake(emails);
}

/** Moves emails from the open folder to another one. */
export function moveEmails(emails: readonly ThreadMember[], target: string, text: string): Promise<void> {
  return attempt(async () => {
    if (!mayTake(emails)) throw new MailError(t('error.forbidden'));
    const changes = moveChanges(inOpenFolder(emails), target);
    clearSelection();
    await change(changes, text);
  });
}

/** Moves emails to a folder by its role, such as Archive. */
export function moveToRole(emails: readonly ThreadMember[], role: string): Promise<void> {
  const target = folderByRole(role);
  if (target === undefined) return attempt(async () => showNotice(t('error.no-folder', { folder: roleName(role) })));
  return moveEmails(
    role === 'junk' ? withoutOwn(emails) : emails,
    target.id,
    t('done.moved', { folder: folderName(target) }),
  );
}

/** Changes of keywords leave one after the other: the last click on a check box counts. */
const keywordQueue = new RequestQueue(1);

/** Sets or removes a keyword of emails, without a notice: it is shown at once. */
export function setKeyword(emails: readonly ThreadMember[], keyword: string, on: boolean): Promise<void> {
  return attempt(async () => {
    if (!may(keyword === '$seen' ? 'maySetSeen' : 'maySetKeywords', emails)) throw new MailError(t('error.forbidden'));
    const { patches } = keywordChanges(withPending([...emails]), keyword, on);
    if (patches.size === 0) return;
    const made = { ids: new Set(patches.keys()), keyword, on };
    await showWhile(
      made,
      () => keywordQueue.run(() => sendPatches(patches)),
      () => keepKeyword(made),
    );
    await readAgain();
  });
}

/** Stores a keyword in what is loaded, until that is read again. */
function keepKeyword(made: KeywordChange): void {
  loadedThread.value = { ...loadedThread.value, emails: withKeyword(loadedThread.value.emails, made) };
  keepKeywordInList(made);
}

/** Deletes emails for ever; only from Trash, after a question. */
export function deletePermanently(emails: readonly ThreadMember[]): Promise<void> {
  return attempt(async () => {
    if (!mayTake(emails)) throw new MailError(t('error.forbidden'));
    const ids = inOpenFolder(emails).map(({ id }) => id);
    await destroyInBatches(ids);
    clearSelection();
    dropLoadedThreads();
    await refreshList();
    showNotice(t('done.deleted', { count: ids.length }));
  });
}

/** True if emails are deleted for ever: in Trash, and in a shared folder, whose account shows no Trash. */
export function deletesForEver(emails: readonly ThreadMember[]): boolean {
  return (isInRole('trash') || folderByRole('trash') === undefined) && mayTake(emails);
}

/** True when the open folder has this role. */
export function isInRole(role: string): boolean {
  return folders.value.find(({ id }) => id === route.value.folder)?.role === role;
}
