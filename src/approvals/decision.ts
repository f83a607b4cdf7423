import type { Command } from '../../mail/store/engine/types.ts';
import { AUDITED, type Audited } from '../audit/commands.ts';
import type { AuditEntry } from '../audit/row.ts';
import { publicId } from '../ids.ts';
import type { World } from '../operations/world.ts';
import { sha256OfWaiting } from './octets.ts';
import { type Decided, decideApproval, type Decision } from './commands.ts';

/** A person who decides, however they proved who they are. */
export type Decider = Pick<Decision, 'tenant' | 'accounts'> & Pick<AuditEntry, 'actor' | 'actorName' | 'ip'>;

/**
 * The only way to decide over HTTP, with its audit row in the same commit. No operation leads here, as every operation is
 * a tool of tokens too.
 */
export async function decide(
  world: Pick<World, 'store' | 'metrics'>,
  { tenant, accounts, actor, actorName, ip }: Decider,
  { id, approves }: Pick<Decision, 'id' | 'approves'>,
): Promise<Decided> {
  const sha256 = approves ? ((await sha256OfWaiting(world, id)) ?? null) : null;
  const input: Decision = { id, tenant, accounts, approves, by: actorName, sha256 };
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
    detail: {},
  };
  const audited: Audited = { command: decideApproval.name, input, entry };
  const done = await world.store.write({ ...decideApproval, name: AUDITED } as Command<unknown, never>, audited);
  const decided = done as Decided;
  world.metrics.count('approvals_decided_total', { outcome: decided.kind });
  return decided;
}

/** What was not done, and what to do next. */
export const UNDECIDED: Readonly<Record<Exclude<Decided['kind'], 'approved' | 'denied'>, string>> = {
  missing: 'There is no such message, or it is not for you to decide about.',
  frozen: 'The organization is frozen: nothing leaves it. Ask whoever runs this mail server.',
  decided: 'It was decided before, so nothing was done now.',
  expired: 'It waited for more than 24 hours. Whoever wrote it has to send it again.',
  changed: 'It was changed after it was held, so it is not sent. Whoever wrote it has to send it again.',
};
