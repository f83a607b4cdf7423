import { createHash } from 'node:crypto';
import { query, type Read } from '../engine/types.ts';
import { stateOf } from '../account/type-state.ts';
import { GRANTS_IN_EFFECT, isPersonsLogin, type SharingLogin } from './acl.ts';

/** A mailbox of another account that a login may see. */
export interface SharedFolder extends Record<string, string | number> {
  id: number;
  owner: number;
  /** Address of the owner. */
  address: string;
  /** Mailbox above it; 0 at the top. */
  parent: number;
  /** One level of its name. */
  name: string;
  /** Letters of RFC 4314. */
  rights: string;
  subscribed: number;
  /** Last change of its properties, and of its messages. */
  modseq: number;
  highestModseq: number;
  uidNext: number;
}

/** The mailboxes of one account that are shared with a login, as JMAP shows them: those with the right l. */
export interface SharedAccount {
  login: SharingLogin;
  owner: number;
  address: string;
  folders: readonly SharedFolder[];
}

const FOLDERS = `SELECT c.mailbox_id AS id, m.account_id AS owner, o.address, m.parent_id AS parent, m.name, c.rights,
    c.subscribed, m.modseq, m.highestmodseq AS highestModseq, m.uidnext AS uidNext
  FROM ${GRANTS_IN_EFFECT} AND (?2 IS NULL OR m.account_id = ?2) AND instr(c.rights, 'l') > 0 ORDER BY m.account_id, c.mailbox_id`;

async function foldersOf(rx: Read, login: SharingLogin, owner: number | null): Promise<SharedFolder[]> {
  const folders = await rx.all<SharedFolder>(FOLDERS, login.account, owner);
  return folders.length > 0 && (await isPersonsLogin(rx, login)) ? folders : [];
}

/** All accounts that share mailboxes with a login. RFC 8620 1.6.2. */
export const sharedAccounts = query('shared-accounts', async (rx, login: SharingLogin): Promise<SharedAccount[]> => {
  const byOwner = Map.groupBy(await foldersOf(rx, login, null), ({ owner }) => owner);
  return [...byOwner].map(([owner, folders]) => ({ login, owner, address: folders[0]?.address ?? '', folders }));
});

/** The part of one account that is shared with a login; undefined: nothing. */
export async function readSharedAccount(
  rx: Read,
  login: SharingLogin,
  owner: number,
): Promise<SharedAccount | undefined> {
  const folders = await foldersOf(rx, login, owner);
  const [first] = folders;
  return first && { login, owner, address: first.address, folders };
}

/** {@link readSharedAccount} as a query. */
export const sharedAccount = query(
  'shared-account',
  (rx, { login, owner }: { login: SharingLogin; owner: number }): Promise<SharedAccount | undefined> =>
    readSharedAccount(rx, login, owner),
);

/** Tests if a folder gives all these rights. */
export function gives({ rights }: Pick<SharedFolder, 'rights'>, letters: string): boolean {
  return Array.from(letters).every((letter) => rights.includes(letter));
}

/** Mailboxes whose messages may be read. RFC 8621 2: mayReadItems needs l and r. */
export function readableFolders({ folders }: Pick<SharedAccount, 'folders'>): number[] {
  return folders.filter((folder) => gives(folder, 'r')).map(({ id }) => id);
}

/** Tests if the login can change nothing. */
export function isReadOnly({ folders }: Pick<SharedAccount, 'folders'>): boolean {
  return !folders.some((folder) => ['s', 'w', 'i', 'te'].some((letters) => gives(folder, letters)));
}

/** Mailboxes whose UIDNEXT is in a state. */
const MAX_UIDS_IN_STATE = 16;

/**
 * State of Email and Thread: the last change in readable mailboxes, a hash of the rights, and UIDNEXT of each mailbox.
 * After a change of rights a client has to read all again, as other messages are visible.
 */
export function sharedEmailState({ folders }: Pick<SharedAccount, 'folders'>): string {
  const readable = folders.filter((folder) => gives(folder, 'r'));
  const uids = readable.length > MAX_UIDS_IN_STATE ? [] : readable.map(({ uidNext }) => uidNext.toString(36));
  const rights = folders.map(({ id, rights }) => [id, rights]);
  return [stateText(lastChange(readable), rights), ...uids].join('-');
}

/** State of Mailbox. */
export function sharedMailboxState({ folders }: Pick<SharedAccount, 'folders'>): string {
  const readable = folders.filter((folder) => gives(folder, 'r'));
  const changes = Math.max(lastChange(readable), ...folders.map(({ modseq }) => modseq));
  const facts = folders.map(({ id, rights, subscribed, parent }) => [id, rights, subscribed, parent]);
  return stateText(changes, facts);
}

function lastChange(folders: readonly SharedFolder[]): number {
  return Math.max(1, ...folders.map(({ highestModseq }) => highestModseq));
}

function stateText(modseq: number, facts: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
  return `x${modseq.toString(36)}-${hash}`;
}

/** A state taken apart. */
export interface SharedSince {
  modseq: number;
  /** UIDNEXT of each readable mailbox then; empty when there were too many. */
  uidNext: readonly number[];
}

/** Reads a state of this account; undefined if it is not one, or the rights have changed since. `now` is the present one. */
export function readSharedState(state: string, now: string): SharedSince | undefined {
  if (!/^x[0-9a-z]{1,11}-[0-9a-f]{16}(?:-[0-9a-z]{1,11}){0,16}$/.test(state)) return undefined;
  const [[then = '', hash, ...uids], [newest = '', same, ...present]] = [state.split('-'), now.split('-')];
  const modseq = Number.parseInt(then.slice(1), 36);
  if (hash !== same || uids.length !== present.length || modseq > Number.parseInt(newest.slice(1), 36))
    return undefined;
  return { modseq, uidNext: uids.map((uid) => Number.parseInt(uid, 36)) };
}

/** Email state of an account as a login sees it: of its own account, or of the part that is shared; '' without one. */
export const emailStateFor = query(
  'email-state-for',
  async (rx, { login, account }: { login: SharingLogin; account: number }): Promise<string> => {
    if (account === login.account) return (await stateOf(rx, account, 'Email')).toString(36);
    const shared = await readSharedAccount(rx, login, account);
    return shared === undefined ? '' : sharedEmailState(shared);
  },
);
