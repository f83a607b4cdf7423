import { operation, type Call } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Line, isoOf, nextCursor, PageSize, CURSOR } from '../../core/schemas.ts';
import { z } from 'zod';
import { pausedSenders } from '../../../mail/store/limit/paused-sender.ts';
import { idPattern, rowId } from '../../core/ids.ts';
import { resumeUnfrozen } from '../../sending/pause-commands.ts';
import { namedSender } from '../../sending/pause-notice-source.ts';

/** Maximum commits per request; `more` reports the rest. */
const MAX_SLICES = 20;

const Shown = z.object({
  sender: z.string().describe('id of the mailbox or the key'),
  name: z.string(),
  since: z.string(),
  why: z.string(),
  figures: z.record(z.string(), z.number()).describe('what was counted, and the limit that it passed'),
});

export const listPausedSenders = operation({
  name: 'list_paused_senders',
  title: 'List paused senders',
  toolset: 'email',
  reach: 'organization',
  action: 'read',
  description:
    'Lists mailboxes and keys that were paused because of unusual sending, with the evidence. Their mail is held, not lost: see list_outbox and list_queue. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ cursor: Line(1, 100).describe(CURSOR).optional(), limit: PageSize(100, 25) }),
  output: z.object({ senders: z.array(Shown), nextCursor }),
  rest: { method: 'GET', path: '/api/email/paused-senders' },
  async run({ store, tenant }, { cursor = '', limit }) {
    const rows = await store.read(pausedSenders, { tenant, after: subjectOf(cursor), limit: limit + 1 });
    const senders = await Promise.all(
      rows.slice(0, limit).map(async (row) => {
        const { id, name } = await namedSender(store, row);
        return { sender: id, name, since: isoOf(row.pausedAt), why: `${row.why}.`, figures: { ...row.figures } };
      }),
    );
    return { senders, nextCursor: rows.length > limit ? (senders.at(-1)?.sender ?? null) : null };
  },
});

export const resumePausedSender = operation({
  name: 'resume_sender',
  title: 'Resume a paused sender',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description:
    'Lets a paused mailbox or key send again, with higher limits for a day, and releases its held mail; cancel unwanted mail first. Only for owners and the operator: make sure nobody else has its password. `more` true: call again for the rest.',
  hints: { openWorld: true },
  rule: (_call, { sender }) => (idPattern('mailbox').test(sender) ? [rowId('mailbox', sender) ?? 0] : []),
  input: z.strictObject({ sender: Line(1, 100).describe('As list_paused_senders shows it') }),
  output: z.object({ resumed: z.literal(true), released: z.number(), more: z.boolean() }),
  rest: { method: 'POST', path: '/api/email/paused-senders/:sender/resume' },
  async run(call, { sender }) {
    onlyOwners(call);
    let released = 0;
    for (let slice = 0; ; slice++) {
      const input = { sender: subjectOf(sender), tenant: call.tenant };
      const done = await call.change(resumeUnfrozen, input, sender);
      if (done.kind === 'frozen') {
        refuse('conflict', 'The organization is frozen: unfreeze it first (unfreeze_organization).');
      }
      if (done.kind === 'none' && slice === 0) notFound('paused sender');
      released += done.released;
      if (done.more && slice < MAX_SLICES) continue;
      if (released > 0) call.queueChanged();
      return { resumed: true as const, released, more: done.more };
    }
  },
});

/** Returns the sender as the engine names it. */
function subjectOf(sender: string): string {
  return idPattern('mailbox').test(sender) ? `account/${rowId('mailbox', sender) ?? 0}` : sender;
}

/** Refuses tokens: the attacker who sent the mail may hold one. */
function onlyOwners({ caller }: Call): void {
  if (caller.kind === 'operator' || caller.user?.role === 'owner' || caller.token?.owner === true) return;
  refuse('action_not_allowed', 'Only an owner of the organization or the operator can resume a paused sender.', {
    requiredAction: 'owner',
    grantedActions: [...caller.actions],
  });
}
