import type { Command } from '../../mail/store/engine/types.ts';
import { AUDITED, type AuditedInput } from '../audit/commands.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import { publicId } from '../core/ids.ts';
import type { AppContext } from '../core/app-context.ts';
import { sha256OfHeld } from './octets.ts';
import { type ApprovalResult, decideApproval, type ApprovalDecision } from './commands.ts';

/** The person who decides, however authenticated. */
export type Decider = Pick<ApprovalDecision, 'tenant' | 'accounts' | 'credential'> &
  Pick<AuditEntry, 'actor' | 'actorName' | 'ip'>;

/**
 * Decides over HTTP, with the audit row in the same commit. No operation leads here, as every operation is a tool for tokens
 * too.
 */
export async function decideByHttp(
  context: Pick<AppContext, 'store' | 'metrics'>,
  { tenant, accounts, credential, actor, actorName, ip }: Decider,
  { id, approves }: Pick<ApprovalDecision, 'id' | 'approves'>,
): Promise<ApprovalResult> {
  const sha256 = approves ? ((await sha256OfHeld(context, id)) ?? null) : null;
  const password = credential === undefined ? {} : { credential };
  const input: ApprovalDecision = { id, tenant, accounts, approves, by: actorName, sha256, ...password };
  const target = publicId('outbox', id);
  const operation = approves ? 'approve_outbox_item' : 'deny_outbox_item';
  const entry: AuditEntry = {
    organization: tenant,
    actor,
    actorName,
    way: 'portal',
    ip,
    operation,
    target,
    detail: credential === undefined ? {} : { passwordId: publicId('credential', credential) },
  };
  const audited: AuditedInput = { command: decideApproval.name, input, entry };
  const done = await context.store.write({ ...decideApproval, name: AUDITED } as Command<unknown, never>, audited);
  const decided = done as ApprovalResult;
  context.metrics.count('approvals_decided_total', { outcome: decided.kind });
  return decided;
}

/** Explanation for each outcome that decided nothing. */
export const UNDECIDED_TEXT: Readonly<Record<Exclude<ApprovalResult['kind'], 'approved' | 'denied'>, string>> = {
  missing: 'There is no such message, or you may not decide about it.',
  frozen: 'The organization is frozen, so it cannot send. Ask the operator of this mail server.',
  decided: 'It was decided before. Nothing changed.',
  expired: 'The approval expired after 24 hours. The sender has to send the message again.',
  changed: 'The message was changed after it was held, so it is not sent. The sender has to send it again.',
};
