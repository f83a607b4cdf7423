import type { Actor } from '../actor.ts';
import { command, type Forbidden } from '../engine/types.ts';
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

interface CopyBetween {
  /** The login that copies. */
  login: { account: number; actor: Actor | undefined };
  source: CopyEnd;
  target: CopyEnd;
  uids: readonly number[];
  move: boolean;
}

/** Copies or moves messages to a mailbox of another account of the organization; rights are checked in the commit. */
export const copyBetween = command(
  'copy-between',
  async (tx, input: CopyBetween, stamp): Promise<CopyBetweenResult> => {
    const { login, source, target, move } = input;
    const rightsOn = async ({ account, mailbox }: CopyEnd): Promise<string> => {
      if (account === login.account) return 'lrswite';
      const grant = await mailboxGrant.run(tx, { ...login, mailbox });
      return grant?.owner === account ? grant.rights : '';
    };
    const [there, here] = [await rightsOn(target), await rightsOn(source)];
    if (!there.includes('i') || !here.includes('r')) return { kind: 'missing' };
    if (move && !(here.includes('t') && here.includes('e')))
      return { kind: 'forbidden', why: 'Moving needs the rights t and e on the mailbox that the messages are in' };
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
    if (await overQuota(tx, target.account, size)) return { kind: 'over-quota' };
    const done = { kind: 'done' as const, uidValidity: into.uidvalidity, from: [] as number[], to: [] as number[] };
    let modseq = 0;
    const moved: typeof rows = [];
    for (const row of rows) {
      const original = await storedEmail(tx, source.account, row.email_id, {
        mailbox: source.mailbox,
        uid: row.uid,
      });
      if (original === undefined) continue;
      const flags = await storeKeywords(tx, target.account, copiedFlags(original.flags, there));
      const email = await addEmail(tx, { ...original, account: target.account, copyOf: row.email_id });
      const entry = await addEntry(tx, target.mailbox, email, flags ?? { bits: 0, kw: [] }, stamp);
      done.from.push(row.uid);
      done.to.push(entry.uid);
      modseq = entry.modseq;
      moved.push(row);
    }
    if (move && moved.length > 0) await removeEntries(tx, source.account, source.mailbox, moved, stamp);
    await allowed.settle(tx, stamp);
    return { ...done, modseq };
  },
);
