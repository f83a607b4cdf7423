import { MailError, postForm, readJson } from './jmap.ts';
import type { PlainKey } from './message-types.ts';

/** Access of a colleague to a folder: sets of the rights of RFC 4314. */
export type ShareAccess = 'view' | 'read' | 'add' | 'write';

/** A folder that one colleague may use. */
export interface FolderShare {
  /** Id of the folder. */
  folder: string;
  address: string;
  /** `custom`: rights that a mail program set. */
  access: ShareAccess | 'custom';
  /** Letters of RFC 4314. */
  rights: string;
}

/** The access that can be chosen, least first, in words. */
export const ACCESS_WORDS: readonly (readonly [access: ShareAccess, words: PlainKey])[] = [
  ['view', 'share.view'],
  ['read', 'share.read'],
  ['add', 'share.add'],
  ['write', 'share.write'],
];

const sharesIn = (body: unknown): FolderShare[] => (body as { shares: FolderShare[] }).shares;

/** All shares of the mailbox. */
export async function loadShares(): Promise<FolderShare[]> {
  return sharesIn(await readJson('/mail/shares'));
}

/** Shares of folders that can be known; none if this sign-in may not read them. */
export async function readableShares(folders: readonly string[]): Promise<FolderShare[]> {
  try {
    return (await loadShares()).filter(({ folder }) => folders.includes(folder));
  } catch (error) {
    // Any other failure: who deletes the folders now could not undo it with their shares.
    if (error instanceof MailError && error.status === 403) return [];
    throw error;
  }
}

/** Changes or, with `none`, ends one share. Returns all shares of the mailbox. */
export async function setShare(
  share: Pick<FolderShare, 'folder' | 'address'> & { access: FolderShare['access'] | 'none'; rights?: string },
): Promise<FolderShare[]> {
  const { folder, address, access, rights = '' } = share;
  return sharesIn(await postForm('/mail/shares', { folder, address, access, rights }));
}
