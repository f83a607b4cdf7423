import { command, type Stamp, type Write } from '../engine/types.ts';
import type { SharingLogin } from '../mailbox/acl.ts';
import { copiedFlags, type NamedFlags, SEEN } from '../mailbox/flags.ts';
import {
  emailStateFor,
  gives,
  readSharedAccount,
  type SharedAccount,
  sharedEmailState,
  type SharedFolder,
} from '../mailbox/shared-account.ts';
import {
  changeEach,
  type ChangeOutcome,
  destroyEach,
  type EmailChange,
  type SetChange,
  type UndestroyedEmail,
} from './email-change-commands.ts';
import { placeCopy, type CopyEmailResult, type EmailPlacementInput } from './email-commands.ts';
import { isSharedEmail, type SharedInput } from './shared-emails.ts';
import { storedEmail, visibleEntries } from './visible-entries.ts';

/** States before and after a command, as clients see them. */
interface StateTexts {
  before: string;
  after: string;
}

/** The rights were revoked, or the state is not the expected one; nothing was changed. */
type NotRun = { kind: 'revoked' } | { kind: 'state-mismatch' };

async function runShared<T extends { kind: string }>(
  tx: Write,
  { login, owner, ifState }: SharedInput & { ifState: string | null },
  change: (account: SharedAccount) => Promise<T>,
): Promise<(T & StateTexts) | NotRun> {
  const account = await readSharedAccount(tx, login, owner);
  if (account === undefined) return { kind: 'revoked' };
  const before = sharedEmailState(account);
  if (ifState !== null && ifState !== before) return { kind: 'state-mismatch' };
  const outcome = await change(account);
  const now = await readSharedAccount(tx, login, owner);
  return { ...outcome, before, after: now === undefined ? before : sharedEmailState(now) };
}

/** Changes emails of another account by the rights on its shared mailboxes, which are checked in the commit. */
export const changeSharedEmails = command(
  'change-shared-emails',
  (
    tx,
    input: SharedInput & { changes: readonly EmailChange[]; ifState: string | null },
    stamp,
  ): Promise<({ kind: 'done'; outcomes: ChangeOutcome[] } & StateTexts) | NotRun> =>
    runShared(tx, input, async (account) => {
      const outcomes: ChangeOutcome[] = [];
      for (const change of input.changes) outcomes.push(await changeShared(tx, account, change, stamp));
      return { kind: 'done' as const, outcomes };
    }),
);

async function changeShared(
  tx: Write,
  account: SharedAccount,
  change: EmailChange,
  stamp: Stamp,
): Promise<ChangeOutcome> {
  const { login, owner } = account;
  const here = await foldersOfEmail(tx, account, change.email);
  if (here.length === 0) return { kind: 'not-found' };
  const moves = change.mailboxes === null ? undefined : movesOf(account, here, change.mailboxes);
  if (moves !== undefined && 'kind' in moves) return moves;
  const now = (await storedEmail(tx, owner, change.email))?.flags;
  if (now === undefined) return { kind: 'not-found' };
  const refusal = change.keywords === null ? undefined : keywordRefusal(here, now, change.keywords);
  if (refusal !== undefined) return refusal;
  const mailboxes = moves && { kind: 'patch' as const, ...moves };
  const input = { account: owner, actor: login.actor, changes: [{ ...change, mailboxes: mailboxes ?? null }] };
  const [outcome] = await changeEach(tx, input, stamp);
  return outcome ?? { kind: 'not-found' };
}

/** The readable mailboxes that an email is in. */
async function foldersOfEmail(tx: Write, { owner, folders }: SharedAccount, email: number): Promise<SharedFolder[]> {
  const entries = new Set((await visibleEntries(tx, owner, [email])).map(({ mailbox }) => mailbox));
  return folders.filter((folder) => entries.has(folder.id) && gives(folder, 'r'));
}

/** The mailboxes to add and to remove; those that the login does not see stay as they are. */
function movesOf(
  { folders }: SharedAccount,
  here: readonly SharedFolder[],
  change: SetChange<readonly number[]>,
): { add: number[]; remove: number[] } | ChangeOutcome {
  const now = new Set(here.map(({ id }) => id));
  const wanted =
    change.kind === 'replace'
      ? new Set(change.all)
      : new Set([...now, ...change.add].filter((id) => !change.remove.includes(id)));
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const unknown = [...wanted].filter((id) => !byId.has(id));
  if (unknown.length > 0) return { kind: 'missing', mailboxes: unknown };
  if (wanted.size === 0) return { kind: 'in-none' };
  const add = [...wanted].filter((id) => !now.has(id));
  const remove = [...now].filter((id) => !wanted.has(id));
  if (!add.every((id) => hasRights(byId, id, 'i'))) return { kind: 'forbidden', why: NEEDS_INSERT };
  if (!remove.every((id) => hasRights(byId, id, 'te'))) return { kind: 'forbidden', why: NEEDS_DELETE };
  return { add, remove };
}

const NEEDS_INSERT = 'Adding emails needs the right i on this mailbox';
const NEEDS_DELETE = 'Removing emails needs the rights t and e on each mailbox that they leave';
const NEEDS_FLAGS =
  'Changing these keywords needs the right s for $seen and w for others, on each mailbox of the email';

function hasRights(folders: ReadonlyMap<number, SharedFolder>, id: number, letters: string): boolean {
  const folder = folders.get(id);
  return folder !== undefined && gives(folder, letters);
}

/** RFC 8621 2: maySetSeen and maySetKeywords are needed for all mailboxes of the email. */
function keywordRefusal(
  here: readonly SharedFolder[],
  now: NamedFlags,
  change: SetChange<NamedFlags>,
): ChangeOutcome | undefined {
  const changed = changedFlags(now, change);
  const needs = `${(changed.bits & SEEN) === 0 ? '' : 's'}${(changed.bits & ~SEEN) === 0 && changed.keywords.length === 0 ? '' : 'w'}`;
  return here.every((folder) => gives(folder, needs)) ? undefined : { kind: 'forbidden', why: NEEDS_FLAGS };
}

function changedFlags(now: NamedFlags, change: SetChange<NamedFlags>): NamedFlags {
  const had = new Set(now.keywords.map((one) => one.toLowerCase()));
  if (change.kind === 'replace') {
    const all = new Set(change.all.keywords);
    return {
      bits: now.bits ^ change.all.bits,
      keywords: [...all].filter((one) => !had.has(one)).concat([...had].filter((one) => !all.has(one))),
    };
  }
  return {
    bits: (change.add.bits & ~now.bits) | (change.remove.bits & now.bits),
    keywords: [
      ...change.add.keywords.filter((one) => !had.has(one)),
      ...change.remove.keywords.filter((one) => had.has(one)),
    ],
  };
}

/** Removes emails from all mailboxes that the login sees. Those in other mailboxes of the owner stay there. */
export const destroySharedEmails = command(
  'destroy-shared-emails',
  (
    tx,
    input: SharedInput & { emails: readonly number[]; ifState: string | null },
    stamp,
  ): Promise<({ kind: 'done'; destroyed: number[]; kept: UndestroyedEmail[] } & StateTexts) | NotRun> =>
    runShared(tx, input, async (account) => {
      const all = { kind: 'done' as const, destroyed: [] as number[], kept: [] as UndestroyedEmail[] };
      for (const email of input.emails) {
        const here = await foldersOfEmail(tx, account, email);
        if (here.length === 0) continue;
        if (!here.every((folder) => gives(folder, 'te'))) {
          all.kept.push({ email, why: NEEDS_DELETE });
          continue;
        }
        const within = here.map(({ id }) => id);
        const about = { account: account.owner, actor: account.login.actor, emails: [email], within };
        const { destroyed, kept } = await destroyEach(tx, about, stamp);
        all.destroyed.push(...destroyed);
        all.kept.push(...kept);
      }
      return all;
    }),
);

/** A copy from or to mailboxes that are shared with the login; the other side may be its own account. */
interface SharedCopy extends Omit<EmailPlacementInput, 'flags' | 'receivedAt'> {
  login: SharingLogin;
  from: number;
  email: number;
  account: number;
  /** Null: those of the original. */
  flags: NamedFlags | null;
  receivedAt: number | null;
  /** Expected states of both sides as the login sees them; null: any. */
  ifState: string | null;
  ifFromState: string | null;
}

type SharedCopyResult =
  | Exclude<CopyEmailResult, { kind: 'placed' }>
  | ({ kind: 'placed'; email: number; thread: number; size: number } & StateTexts);

/** Copies an email between accounts by the rights on both sides, which are checked in the commit. RFC 8620 5.4. */
export const copySharedEmail = command(
  'copy-shared-email',
  async (tx, input: SharedCopy, stamp): Promise<SharedCopyResult> => {
    const { login, from, email, account, ifState, ifFromState } = input;
    const before = await emailStateFor.run(tx, { login, account });
    const source = ifFromState === null ? null : await emailStateFor.run(tx, { login, account: from });
    if ((ifState ?? before) !== before || source !== ifFromState) return { kind: 'state-mismatch' };
    if (!(await mayRead(tx, login, from, email))) return { kind: 'not-found' };
    const rights = await rightsOn(tx, login, account, input.mailboxes);
    if (rights === undefined) return { kind: 'missing', mailboxes: [...input.mailboxes] };
    if (!rights.includes('i')) return { kind: 'forbidden', why: NEEDS_INSERT };
    const original = await storedEmail(tx, from, email);
    if (original === undefined) return { kind: 'not-found' };
    const where = {
      mailboxes: input.mailboxes,
      flags: copiedFlags(input.flags ?? original.flags, rights),
      receivedAt: input.receivedAt ?? original.receivedAt,
      // Mailboxes are shared with people only.
      namedBy: null,
    };
    const placed = await placeCopy(tx, account, where, { ...original, copyOf: email }, stamp);
    if (placed.kind !== 'placed' || 'before' in placed) return placed as Exclude<CopyEmailResult, { kind: 'placed' }>;
    return { ...placed, before, after: await emailStateFor.run(tx, { login, account }) };
  },
);

async function mayRead(tx: Write, login: SharingLogin, from: number, email: number): Promise<boolean> {
  if (from === login.account) return true;
  const source = await readSharedAccount(tx, login, from);
  return source !== undefined && isSharedEmail(tx, source, email);
}

/** The rights that a login has on all of these mailboxes; undefined if it does not see one of them. */
async function rightsOn(
  tx: Write,
  login: SharingLogin,
  account: number,
  mailboxes: readonly number[],
): Promise<string | undefined> {
  if (account === login.account) return 'lrswite';
  const target = await readSharedAccount(tx, login, account);
  const folders = mailboxes.map((id) => target?.folders.find((folder) => folder.id === id));
  const known = folders.filter((folder) => folder !== undefined);
  if (known.length < folders.length) return undefined;
  return Array.from('lrswite')
    .filter((letter) => known.every((folder) => gives(folder, letter)))
    .join('');
}
