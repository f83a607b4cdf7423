import { computed, signal } from '@preact/signals';
import type { EmailSummary, FullEmail, MailFolder, MailIdentity } from './jmap-types.ts';
import { currentAccount, methods } from './jmap.ts';
import { route } from './route.ts';

export const folders = signal<MailFolder[]>([]);
export const identities = signal<MailIdentity[]>([]);

/** The folder that is open; undefined in a search. */
export const openFolder = computed(() => folders.value.find(({ id }) => id === route.value.folder));

/** One row of the list: a thread, by its newest email that matches. */
export interface ThreadRow {
  id: string;
  email: EmailSummary;
  /** All emails of the thread, oldest first. */
  emails: ThreadMember[];
}

export type ThreadMember = Pick<EmailSummary, 'id' | 'threadId' | 'keywords' | 'from' | 'mailboxIds' | 'receivedAt'>;

/** The thread that was loaded last. It is not the open one while the next one loads. */
export const loadedThread = signal<{ id: string; emails: FullEmail[] }>({ id: '', emails: [] });
/** Emails of the thread that is open, oldest first; empty while it loads. */
export const openThread = computed(() =>
  loadedThread.value.id === route.value.thread ? loadedThread.value.emails : [],
);
/** Ids of the thread's row that are selected by their check boxes. */
export const selection = signal<ReadonlySet<string>>(new Set());

const ROLE_ORDER = ['inbox', 'drafts', 'sent', 'archive', 'junk', 'trash'];

export async function loadFolders(): Promise<void> {
  const [result] = await methods(['Mailbox/get', { ids: null }]);
  const list = (result?.['list'] ?? []) as MailFolder[];
  folders.value = list.toSorted(
    (a, b) => rank(a) - rank(b) || a.sortOrder - b.sortOrder || a.name.localeCompare(b.name),
  );
}

function rank({ role }: MailFolder): number {
  const at = ROLE_ORDER.indexOf(role ?? '');
  return at < 0 ? ROLE_ORDER.length : at;
}

export async function loadIdentities(): Promise<void> {
  const [result] = await methods(['Identity/get', { ids: null }]);
  identities.value = (result?.['list'] ?? []) as MailIdentity[];
}

export function folderByRole(role: string): MailFolder | undefined {
  return folders.value.find((folder) => folder.role === role);
}

/** The identity that answers from an address of the account, else the first. */
export function identityFor(addresses: readonly string[]): MailIdentity | undefined {
  const wanted = new Set(addresses.map((one) => one.toLowerCase()));
  return identities.value.find(({ email }) => wanted.has(email.toLowerCase())) ?? identities.value[0];
}

/** True for the addresses that the account sends from. */
export function isOwnAddress(email: string): boolean {
  const address = email.toLowerCase();
  return (
    address === currentAccount().address.toLowerCase() ||
    identities.value.some((one) => one.email.toLowerCase() === address)
  );
}
