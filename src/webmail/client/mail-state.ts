import { computed, signal } from '@preact/signals';
import type { EmailSummary, FullEmail, MailFolder, MailIdentity } from './jmap-types.ts';
import { currentAccount, methods } from './jmap.ts';
import { FOLDER_CALLS, IDENTITY_CALLS } from './mail-requests.ts';
import { withPending } from './pending-keywords.ts';
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
  loadedThread.value.id === route.value.thread ? withPending(loadedThread.value.emails) : [],
);

const ROLE_ORDER = ['inbox', 'drafts', 'sent', 'archive', 'junk', 'trash'];

export async function loadFolders(): Promise<void> {
  const [result] = await methods(...FOLDER_CALLS);
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
  if (!currentAccount().canSubmit) return;
  const [result] = await methods(...IDENTITY_CALLS);
  identities.value = (result?.['list'] ?? []) as MailIdentity[];
}

/** The folder that is open at first: the inbox, or the first of those that are shared. */
export function homeFolder(): string {
  return (folderByRole('inbox') ?? folders.value[0])?.id ?? '';
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
  const account = currentAccount();
  return (
    (account.isPersonal && address === account.address.toLowerCase()) ||
    identities.value.some((one) => one.email.toLowerCase() === address)
  );
}

/** Domains of the addresses that the account sends from. */
export function ownDomains(): Set<string> {
  const { address, isPersonal } = currentAccount();
  const own = [...(isPersonal ? [address] : []), ...identities.value.map(({ email }) => email)];
  return new Set(own.map((one) => one.slice(one.lastIndexOf('@') + 1).toLowerCase()));
}
