import type { PasswordActor } from '../actor-types.ts';
import { command, type Forbidden, lookup, type Read } from '../engine/types.ts';
import { addEntry, entriesOf, removeEntries } from '../message/entry.ts';
import { addEmail } from '../message/message.ts';
import { storedEmail } from '../message/visible-entries.ts';
import { mailboxGrant } from './acl.ts';
import { overQuota, RESERVED_MAILBOX } from './entry-commands.ts';
import { copiedFlags, storeKeywords } from './flags.ts';

export type CopyBetweenResult =
  | { kind: 'done'; uidValidity: number; from: number[]; to: number[]; modseq: number }
  | { kind: 'missing' }
  | { kind: 'over-quota' }
  | Forbidden;

/** One side of a copy between accounts: the account and the mailbox there. */
interface CopyEnd {
  account: number;
  mailbox: number;
}

/** The login that copies. */
interface CopyLogin {
  account: number;
  actor: PasswordActor | undefined;
}

export interface CopyBetween {
  login: CopyLogin;
  source: CopyEnd;
  target: CopyEnd;
  uids: readonly number[];
  /**
   * COPY removes nothing from the source. MOVE removes the messages in the same commit; one of many slices does so later,
   * by {@link removeCopied}, once all slices are copied. It is refused here for the same reasons.
   */
  removes: 'nothing' | 'now' | 'later';
}

async function rightsOn(tx: Read, login: CopyLogin, { account, mailbox }: CopyEnd): Promise<string> {
  if (account === login.account) return 'lrswite';
  const grant = await mailboxGrant.run(tx, { ...login, mailbox });
  return grant?.owner === account ? grant.rights : '';
}

const REMOVAL_RIGHTS_MISSING: Forbidden = {
  kind: 'forbidden',
  why: 'Moving needs the rights t and e on the mailbox that the messages are in',
};

/** Copies or moves messages to a mailbox of another account of the organization; rights are checked in the commit. */
export const copyBetween = command(
  'copy-between',
  async (tx, input: CopyBetween, stamp): Promise<CopyBetweenResult> => {
    const { login, source, target, removes } = input;
    const move = removes !== 'nothing';
    const [there, here] = [await rightsOn(tx, login, target), await rightsOn(tx, login, source)];
    if (!there.includes('i') || !here.includes('r')) return { kind: 'missing' };
    if (move && !(here.includes('t') && here.includes('e'))) return REMOVAL_RIGHTS_MISSING;
    const into = await tx.get<{ uidvalidity: number }>(
      'SELECT uidvalidity FROM mailbox WHERE id = ? AND account_id = ? AND deleted_at IS NULL',
      target.mailbox,
      target.account,
    );
    if (into === undefined) return { kind: 'missing' };
    if (await tx.hooks.isReserved(tx, target.account, target.mailbox)) return RESERVED_MAILBOX;
    const rows = await entriesOf(tx, source.mailbox, input.uids);
    const emails = rows.map((row) => row.email_id);
    const allowed = await tx.hooks.beforeMove(
      tx,
      { account: source.account, emails: move ? emails : [], into: [], actor: login.actor },
      stamp,
    );
    if (allowed.kind === 'forbidden') return allowed;
    const size = rows.reduce((sum, row) => sum + row.size, 0);
    // A move within one account needs no more of its quota.
    const isGrowing = !move || source.account !== target.account;
    if (isGrowing && (await overQuota(tx, target.account, size, rows.length))) return { kind: 'over-quota' };
    const done = { kind: 'done' as const, uidValidity: into.uidvalidity, from: [] as number[], to: [] as number[] };
    let modseq = 0;
    const moved: typeof rows = [];
    for (const row of rows) {
      const original = await storedEmail(tx, source.account, row.email_id, {
        mailbox: source.mailbox,
        uid: row.uid,
      });
      if (original === undefined) continue;
      const flags = await storeKeywords(tx, target.account, copiedFlags(original.flags, there), { by: null });
      const email = await addEmail(tx, { ...original, account: target.account, copyOf: row.email_id });
      const entry = await addEntry(tx, target.mailbox, email, flags ?? { bits: 0, kw: [] }, stamp);
      done.from.push(row.uid);
      done.to.push(entry.uid);
      modseq = entry.modseq;
      moved.push(row);
    }
    if (removes === 'later') return { ...done, modseq };
    if (move && moved.length > 0) await removeEntries(tx, source.account, source.mailbox, moved, stamp);
    await allowed.settle(tx, stamp);
    return { ...done, modseq };
  },
);

/** Removes messages that were copied by a MOVE from its source; returns those that were still there. */
export const removeCopied = command(
  'remove-copied',
  async (
    tx,
    { login, source, uids }: Pick<CopyBetween, 'login' | 'source' | 'uids'>,
    stamp,
  ): Promise<{ kind: 'removed'; uids: number[] } | Forbidden> => {
    const here = await rightsOn(tx, login, source);
    if (!(here.includes('t') && here.includes('e'))) return REMOVAL_RIGHTS_MISSING;
    const rows = await entriesOf(tx, source.mailbox, uids);
    if (rows.length === 0) return { kind: 'removed', uids: [] };
    const emails = rows.map((row) => row.email_id);
    const { account } = source;
    const allowed = await tx.hooks.beforeMove(tx, { account, emails, into: [], actor: login.actor }, stamp);
    if (allowed.kind === 'forbidden') return allowed;
    await removeEntries(tx, account, source.mailbox, rows, stamp);
    await allowed.settle(tx, stamp);
    return { kind: 'removed', uids: rows.map((row) => row.uid) };
  },
);

/** Those of the UIDs that a mailbox still has. */
export const remainingUids = lookup(
  'remaining-uids',
  async (rx, { mailbox, uids }: { mailbox: number; uids: readonly number[] }): Promise<number[]> =>
    (await entriesOf(rx, mailbox, uids)).map(({ uid }) => uid),
);
