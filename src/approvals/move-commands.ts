import type { ApprovalRow } from '../../mail/store/approval.ts';
import { changeEmails, destroyEmails } from '../../mail/store/email-change-commands.ts';
import { type Command, command, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { copyEntries, expunge } from '../../mail/store/entry-commands.ts';
import type { Hand } from '../../mail/store/hand.ts';
import { appendAudit } from '../audit/commands.ts';
import { publicId } from '../ids.ts';

/** What of the engine may decide about mail that waits, as a mail program moves or deletes it, and how that came in. */
const DECIDING = new Map([
  [expunge.name, 'imap'],
  [copyEntries.name, 'imap'],
  [changeEmails.name, 'jmap'],
  [destroyEmails.name, 'jmap'],
] as const);

interface Moved {
  account: number;
  hand?: Hand | undefined;
}

/** The same commands; what a mail program decides by one of them gets its audit row in the same commit. */
export function auditedMoves(commands: readonly Command<never, unknown>[]): Command<never, unknown>[] {
  return commands.map((one) => {
    const way = DECIDING.get(one.name);
    return way === undefined ? one : audited(one, way);
  });
}

function audited(inner: Command<never, unknown>, way: 'imap' | 'jmap'): Command<never, unknown> {
  return command<Moved, unknown>(inner.name, async (tx, input, stamp) => {
    // Without a password it is no person, and decides nothing.
    const waited = input.hand === undefined ? [] : await waitingOf(tx, input.account);
    const done = await inner.run(tx, input as never, stamp);
    if (waited.length > 0) await noteDecided(tx, { ...input, waited, way }, stamp);
    return done;
  });
}

async function waitingOf(rx: Read, account: number): Promise<number[]> {
  const rows = await rx.all<{ id: number }>(
    `SELECT id FROM approval INDEXED BY approval_waits
     WHERE tenant = (SELECT tenant FROM account WHERE id = ?1) AND state = 'pending' AND account_id = ?1`,
    account,
  );
  return rows.map(({ id }) => id);
}

const OPERATION: Readonly<Partial<Record<ApprovalRow['state'], string>>> = {
  approved: 'approve_outbox_item',
  denied: 'deny_outbox_item',
};

async function noteDecided(
  tx: Write,
  { account, hand, waited, way }: Moved & { waited: readonly number[]; way: 'imap' | 'jmap' },
  stamp: Stamp,
): Promise<void> {
  const decided = await tx.all<Pick<ApprovalRow, 'id' | 'tenant' | 'state'> & { by: string }>(
    `SELECT id, tenant, state, decided_by AS "by" FROM approval
     WHERE id IN (SELECT value FROM json_each(?)) AND state IN ('approved', 'denied') ORDER BY id`,
    JSON.stringify(waited),
  );
  for (const { id, tenant, state, by } of decided) {
    const who = { actor: publicId('mailbox', account), actorName: by, way, ip: '' };
    const what = { operation: OPERATION[state] ?? state, target: publicId('outbox', id) };
    const detail = { passwordId: publicId('credential', hand?.credential ?? 0) };
    await appendAudit(tx, { organization: tenant, ...who, ...what, detail }, state, stamp);
  }
}
