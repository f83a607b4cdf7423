import { destroyInBatches, emailsInFolder, sendPatches, withoutOwn } from './email-changes.ts';
import { keywordChanges, moveChanges } from './email-patches.ts';
import { folderName, roleName } from './folder-names.ts';
import type { FolderRights, MailFolder } from './jmap-types.ts';
import { MailError } from './jmap.ts';
import { folderByRole, type ThreadMember } from './mail-state.ts';
import { attempt } from './notices.ts';
import { may } from './rights.ts';
import { route } from './route.ts';
import { t } from './translate.ts';
import { actOnWholeList } from './whole-list.ts';

/** Emails that an action takes out of the list. The reader may open another folder meanwhile: `folder` is that of the list. */
function taken(emails: readonly ThreadMember[], folder: string): ThreadMember[] {
  // An email that was moved meanwhile is left where it is.
  if (folder !== 'search') return emails.filter(({ mailboxIds }) => mailboxIds[folder] === true);
  const threads = Map.groupBy(emails, ({ threadId }) => threadId).values();
  return [...threads].flatMap((thread) => emailsInFolder(thread, folder));
}

function requireRight(right: keyof FolderRights, emails: readonly ThreadMember[]): void {
  if (emails.length > 0 && !may(right, emails)) throw new MailError(t('error.forbidden'));
}

/** Moves all conversations of the list to a folder. `label`: the action beside its progress. */
export function moveWholeList(target: MailFolder, label = t('act.move')): Promise<void> {
  const { folder } = route.value;
  return actOnWholeList({
    label,
    async run(emails) {
      const moved = taken(emails, folder);
      requireRight('mayRemoveItems', moved);
      const { patches, undo } = moveChanges(target.role === 'junk' ? withoutOwn(moved) : moved, target.id);
      await sendPatches(patches, true);
      return undo;
    },
    done: (count) => t('batch.moved', { count, folder: folderName(target) }),
  });
}

/** Moves all conversations of the list to the folder for a role. */
export function fileWholeList(role: string, label: string): Promise<void> {
  const target = folderByRole(role);
  if (target !== undefined) return moveWholeList(target, label);
  return attempt(() => Promise.reject(new MailError(t('error.no-folder', { folder: roleName(role) }))));
}

/** Sets or removes a keyword of all conversations of the list. */
export function setWholeListKeyword(keyword: string, on: boolean, label: string): Promise<void> {
  return actOnWholeList({
    label,
    async run(emails) {
      requireRight(keyword === '$seen' ? 'maySetSeen' : 'maySetKeywords', emails);
      const { patches, undo } = keywordChanges(emails, keyword, on);
      await sendPatches(patches, true);
      return undo;
    },
    done: (count) => t('batch.changed', { count }),
  });
}

/** Deletes all conversations of the list for ever, after a question. */
export function deleteWholeList(): Promise<void> {
  const { folder } = route.value;
  return actOnWholeList({
    label: t('act.delete'),
    async run(emails) {
      const deleted = taken(emails, folder);
      requireRight('mayRemoveItems', deleted);
      await destroyInBatches(deleted.map(({ id }) => id));
      return new Map();
    },
    done: (count) => t('batch.deleted', { count }),
  });
}
