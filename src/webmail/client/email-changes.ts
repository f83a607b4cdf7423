import { chunks } from './chunks.ts';
import type { EmailPatch } from './email-patches.ts';
import { maxObjects, methods, type SetProblem, throwRefusals } from './jmap.ts';
import { folderByRole, isOwnAddress, type ThreadMember } from './mail-state.ts';
import { t } from './translate.ts';

/** Folders whose emails an action on the result of a search leaves where they are, unless there are no others. */
const LEFT_BY_SEARCH = ['trash', 'junk', 'sent', 'drafts'];

/** Emails of a thread that lie in a folder; in a search, those that were received and are not deleted. */
export function emailsInFolder(emails: readonly ThreadMember[], folder: string): ThreadMember[] {
  const hidden = LEFT_BY_SEARCH.map((role) => folderByRole(role)?.id);
  const inside = emails.filter(({ mailboxIds }) =>
    folder === 'search' ? !hidden.some((id) => id !== undefined && mailboxIds[id]) : mailboxIds[folder] === true,
  );
  return inside.length > 0 ? inside : [...emails];
}

/** Emails of others: the filter would learn one's own answers as junk. */
export function withoutOwn(emails: readonly ThreadMember[]): readonly ThreadMember[] {
  const received = emails.filter(({ from }) => !(from ?? []).some(({ email }) => isOwnAddress(email)));
  return received.length > 0 ? received : emails;
}

/** Sends patches in as many calls as the server needs. `toleratesMissing`: emails may have been deleted meanwhile. */
export async function sendPatches(patches: ReadonlyMap<string, EmailPatch>, toleratesMissing = false): Promise<void> {
  for (const part of chunks([...patches], maxObjects().set)) {
    const [result = {}] = await methods(['Email/set', { update: Object.fromEntries(part) }]);
    throwRefusals(toleratesMissing ? withoutMissing(result) : result, t('error.not-changed'));
  }
}

/** Deletes emails for ever, in as many calls as the server needs. Those that are deleted already are no failure. */
export async function destroyInBatches(ids: readonly string[]): Promise<void> {
  for (const destroy of chunks(ids, maxObjects().set)) {
    const [result = {}] = await methods(['Email/set', { destroy }]);
    throwRefusals(withoutMissing(result), t('error.not-deleted'));
  }
}

/** The response of a /set without the refusals of objects that do not exist. */
function withoutMissing(result: Record<string, unknown>): Record<string, unknown> {
  const kept = ['notUpdated', 'notDestroyed'].map((key): [string, object] => [
    key,
    Object.fromEntries(
      Object.entries((result[key] ?? {}) as Record<string, SetProblem>).filter(([, { type }]) => type !== 'notFound'),
    ),
  ]);
  return { ...result, ...Object.fromEntries(kept) };
}
