import { computed } from '@preact/signals';
import type { FolderRights } from './jmap-types.ts';
import { currentAccount } from './jmap.ts';
import { folders, openFolder, type ThreadMember } from './mail-state.ts';

const rightsByFolder = computed(() => new Map(folders.value.map(({ id, myRights }) => [id, myRights])));

/** True if the reader has a right in every folder of emails; of no emails, in the open folder. */
export function may(right: keyof FolderRights, emails: readonly ThreadMember[]): boolean {
  if (emails.length === 0) return openFolder.value?.myRights[right] ?? true;
  const { value: rights } = rightsByFolder;
  return emails.every(({ mailboxIds }) => Object.keys(mailboxIds).every((id) => rights.get(id)?.[right] !== false));
}

/** True if this sign-in can send mail from the open account. */
export function canSend(): boolean {
  const { readOnly, canSubmit } = currentAccount();
  return canSubmit && !readOnly;
}

/** True if the account is the reader's own and they may change its settings. */
export function ownsAccount(): boolean {
  const { isPersonal, readOnly } = currentAccount();
  return isPersonal && !readOnly;
}
