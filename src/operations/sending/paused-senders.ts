import { z } from 'zod';
import { pausedSenders } from '../../../mail/store/paused-sender.ts';
import { idPattern, rowId } from '../../ids.ts';
import { resumeUnfrozen } from '../../sending/pause-commands.ts';
import { namedSender } from '../../sending/pause-letter.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { isoOf, Line, nextCursor } from '../schemas.ts';

/** Commits of one request: what is left is said, and asked for again. */
const MOST_SLICES = 20;

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
    'Lists mailboxes and keys that were paused because they suddenly sent what they never sent, with the evidence. Their mail is held, not lost: list_outbox and list_queue have it. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ cursor: Line(1, 100).optional(), limit: z.number().int().min(1).max(100).default(25) }),
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
  title: 'Let a paused sender go on',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description:
    'Lets a paused mailbox or key send again, with wider limits for a day, and sends what was held for it; cancel first what shall not go. Only for owners and the operator: be sure that nobody else has its password. `more` true: ask again for the rest.',
  hints: { openWorld: true },
  rule: (_call, { sender }) => (idPattern('mailbox').test(sender) ? [rowId('mailbox', sender) ?? 0] : []),
  input: z.strictObject({ sender: Line(1, 100).describe('as list_paused_senders shows it') }),
  output: z.object({ resumed: z.literal(true), released: z.number(), more: z.boolean() }),
  rest: { method: 'POST', path: '/api/email/paused-senders/:sender/resume' },
  async run(call, { sender }) {
    onlyOwners(call);
    let released = 0;
    for (let slice = 0; ; slice++) {
      const input = { sender: subjectOf(sender), tenant: call.tenant };
      const done = await call.change(resumeUnfrozen, input, sender);
      if (done.kind === 'frozen') {
        refuse('conflict', 'The organization is frozen: let that work again first (unfreeze_organization).');
      }
      if (done.kind === 'none' && slice === 0) notFound('paused sender');
      released += done.released;
      if (done.more && slice < MOST_SLICES) continue;
      if (released > 0) call.queueChanged();
      return { resumed: true as const, released, more: done.more };
    }
  },
});

/** As the engine knows it. */
function subjectOf(sender: string): string {
  return idPattern('mailbox').test(sender) ? `account/${rowId('mailbox', sender) ?? 0}` : sender;
}

/** A token may be in the hands of whoever made the sender send. */
function onlyOwners({ caller }: Call): void {
  if (caller.kind === 'operator' || caller.user?.role === 'owner' || caller.token?.owner === true) return;
  refuse('action_not_allowed', 'Only an owner of the organization, or the operator, lets a paused sender go on.', {
    requiredAction: 'owner',
    grantedActions: [...caller.actions],
  });
}
