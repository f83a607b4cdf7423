import type { ApprovalRow } from '../../mail/agents/approval/approval-row.ts';
import { changeEmails, destroyEmails } from '../../mail/store/message/email-change-commands.ts';
import { type Command, command, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { copyEntries, expunge } from '../../mail/store/mailbox/entry-commands.ts';
import type { Actor } from '../../mail/store/actor.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import { publicId } from '../core/ids.ts';

/** Engine commands by which a mail program may approve or deny, with their protocol. */
const DECIDING_COMMANDS = new Map([
  [expunge.name, 'imap'],
  [copyEntries.name, 'imap'],
  [changeEmails.name, 'jmap'],
  [destroyEmails.name, 'jmap'],
] as const);

interface MoveInput {
  account: number;
  actor?: Actor | undefined;
}

/** Adds an audit row in the same commit to commands by which a mail program decides. */
export function auditedMoves(commands: readonly Command<never, unknown>[]): Command<never, unknown>[] {
  return commands.map((one) => {
    const way = DECIDING_COMMANDS.get(one.name);
    return way === undefined ? one : audited(one, way);
  });
}

function audited(inner: Command<never, unknown>, way: 'imap' | 'jmap'): Command<never, unknown> {
  return command<MoveInput, unknown>(inner.name, async (tx, input, stamp) => {
    // Programs decide nothing.
    const waited = input.actor === undefined ? [] : await pendingOf(tx, input.account);
    const done = await inner.run(tx, input as never, stamp);
    if (waited.length > 0) await recordDecision(tx, { ...input, waited, way }, stamp);
    return done;
  });
}

async function pendingOf(rx: Read, account: number): Promise<number[]> {
  const rows = await rx.all<{ id: number }>(
    `SELECT id FROM approval INDEXED BY approval_pending_tenant
     WHERE tenant = (SELECT tenant FROM account WHERE id = ?1) AND state = 'pending' AND account_id = ?1`,
    account,
  );
  return rows.map(({ id }) => id);
}

const OPERATION: Readonly<Partial<Record<ApprovalRow['state'], string>>> = {
  approved: 'approve_outbox_item',
  denied: 'deny_outbox_item',
};

async function recordDecision(
  tx: Write,
  { account, actor, waited, way }: MoveInput & { waited: readonly number[]; way: 'imap' | 'jmap' },
  stamp: Stamp,
): Promise<void> {
  const decided = await tx.all<Pick<ApprovalRow, 'id' | 'tenant' | 'state'> & { by: string }>(
    `SELECT id, tenant, state, decided_by AS "by" FROM approval
     WHERE id IN (SELECT value FROM json_each(?)) AND state IN ('approved', 'denied') ORDER BY id`,
    JSON.stringify(waited),
  );
  for (const { id, tenant, state, by } of decided) {
    const what = { operation: OPERATION[state] ?? state, target: publicId('outbox', id) };
    const entry = { organization: tenant, ...deciderOf({ account, actor, way }), actorName: by, ...what };
    await appendAudit(tx, entry, state, stamp);
  }
}

/** The person, or the mailbox with the password that proved one. */
function deciderOf({
  account,
  actor,
  way,
}: MoveInput & { way: 'imap' | 'jmap' }): Pick<AuditEntry, 'actor' | 'way' | 'ip' | 'detail'> {
  if (actor !== undefined && 'person' in actor) {
    const { id, ip } = actor.person;
    return { actor: id, way: 'portal', ip, detail: {} };
  }
  const detail = { passwordId: publicId('credential', actor?.credential ?? 0) };
  return { actor: publicId('mailbox', account), way, ip: '', detail };
}
