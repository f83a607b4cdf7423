import { loadAgents } from './agents.ts';
import { folderName, roleName } from './folder-names.ts';
import type { FullEmail } from './jmap-types.ts';
import { methods, throwRefusals } from './jmap.ts';
import {
  folderByRole,
  folders,
  isOwnAddress,
  loadedThread,
  openThread,
  selection,
  type ThreadMember,
} from './mail-state.ts';
import { attempt, hideNotice, showNotice } from './notices.ts';
import { route } from './route.ts';
import { dropLoadedThreads, loadThread, refreshList } from './thread-list.ts';
import { t } from './translate.ts';

type EmailPatch = Record<string, unknown>;

/** Changes emails; the reader sees what was done and can take it back. */
async function change(patches: ReadonlyMap<string, EmailPatch>, text: string, undo?: ReadonlyMap<string, EmailPatch>) {
  await update(patches);
  if (undo === undefined) return;
  showNotice(text, async () => {
    await update(undo);
    hideNotice();
  });
}

async function update(patches: ReadonlyMap<string, EmailPatch>): Promise<void> {
  if (patches.size === 0) return;
  const [result] = await methods(['Email/set', { update: Object.fromEntries(patches) }]);
  throwRefusals(result ?? {}, t('error.not-changed'));
  dropLoadedThreads();
  await Promise.all([refreshList(), reloadThread()]);
}

/** Reads the open thread again. */
export async function reloadThread(): Promise<void> {
  const { thread } = route.value;
  if (thread === undefined || openThread.value.length === 0) return;
  const [emails] = await Promise.all([loadThread(thread, true), loadAgents(thread)]);
  if (loadedThread.value.id === thread) loadedThread.value = { id: thread, emails };
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

/** Folders whose emails an action on the result of a search leaves where they are, unless there are no others. */
const LEFT_BY_SEARCH = ['trash', 'junk', 'sent', 'drafts'];

/** Emails of the thread that lie in the folder that is open; in a search, those that were received and are not deleted. */
export function inOpenFolder(emails: readonly ThreadMember[]): ThreadMember[] {
  const { folder } = route.value;
  const hidden = LEFT_BY_SEARCH.map((role) => folderByRole(role)?.id);
  const inside = emails.filter(({ mailboxIds }) =>
    folder === 'search' ? !hidden.some((id) => id !== undefined && mailboxIds[id]) : mailboxIds[folder] === true,
  );
  return inside.length > 0 ? inside : [...emails];
}

/** Moves emails from the open folder to another one. */
export function moveEmails(emails: readonly ThreadMember[], target: string, text: string): Promise<void> {
  return attempt(async () => {
    const moved = inOpenFolder(emails).filter(({ mailboxIds }) => mailboxIds[target] !== true);
    const patches = new Map(moved.map(({ id }) => [id, { mailboxIds: { [target]: true } }]));
    const undo = new Map(moved.map(({ id, mailboxIds }) => [id, { mailboxIds }]));
    selection.value = new Set();
    await change(patches, text, undo);
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

/** Emails of others: the filter would learn one's own answers as junk. */
function withoutOwn(emails: readonly ThreadMember[]): readonly ThreadMember[] {
  const received = emails.filter(({ from }) => !(from ?? []).some(({ email }) => isOwnAddress(email)));
  return received.length > 0 ? received : emails;
}

/** A name in a JSON pointer. RFC 6901 3. */
const pointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Sets or removes a keyword of emails, without a notice: the list shows it. */
export function setKeyword(emails: readonly ThreadMember[], keyword: string, on: boolean): Promise<void> {
  return attempt(async () => {
    const changed = emails.filter(({ keywords }) => (keywords[keyword] === true) !== on);
    await change(new Map(changed.map(({ id }) => [id, { [`keywords/${pointer(keyword)}`]: on ? true : null }])), '');
  });
}

/** Deletes emails for ever; only from Trash, after a question. */
export function destroyEmails(emails: readonly ThreadMember[]): Promise<void> {
  return attempt(async () => {
    const ids = inOpenFolder(emails).map(({ id }) => id);
    const [result] = await methods(['Email/set', { destroy: ids }]);
    throwRefusals(result ?? {}, t('error.not-deleted'));
    selection.value = new Set();
    dropLoadedThreads();
    await refreshList();
    showNotice(t('done.deleted', { count: ids.length }));
  });
}

/** True when the open folder has this role. */
export function isInRole(role: string): boolean {
  return folders.value.find(({ id }) => id === route.value.folder)?.role === role;
}
