import { z } from 'zod';
import { agentSendOf } from '../../../mail/store/agent-send.ts';
import { traceOfSubmission } from '../../agents/decision-queries.ts';
import { publicId, rowId } from '../../ids.ts';
import { findSent } from '../../sending/sent-queries.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf } from '../schemas.ts';
import { mailboxOf, outOfScope } from '../scope.ts';

export const explainDecision = operation({
  name: 'explain_decision',
  title: 'Why a message went or waits',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'read',
  description:
    'Says why a message that an agent sent went at once or waits for a person: the rules that held it, and which mail of outsiders had been read. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ sentId: Id('sent').optional(), outboxId: Id('outbox').optional() }),
  output: z.object({
    decision: z.object({
      outcome: z.enum(['taken', 'scheduled', 'held']),
      at: z.string(),
      tokenId: z.string().describe('or the mailbox whose password sent it'),
      rules: z.array(z.object({ id: z.string(), why: z.string(), recipients: z.array(z.string()) })),
      exposure: z.array(
        z.object({
          messageId: z.string(),
          from: z.string(),
          verdict: z.string(),
          authentic: z.boolean(),
          readAt: z.string(),
        }),
      ),
    }),
  }),
  async run(call, which) {
    const found = await call.store.read(agentSendOf, { tenant: call.tenant, trace: await traceOf(call, which) });
    if (found === undefined) return notFound('email of an agent');
    await within(call, found.account);
    return {
      decision: {
        outcome: found.outcome,
        at: isoOf(found.at),
        tokenId: found.credential,
        rules: found.reasons.map(({ code, text, recipients = [] }) => ({
          id: code,
          why: `${text}.`,
          recipients: [...recipients],
        })),
        exposure: found.exposure.map(({ email, author, verdict, authentic, at }) => ({
          messageId: `msg_${email}`,
          from: author,
          verdict,
          authentic,
          readAt: isoOf(at),
        })),
      },
    };
  },
});

async function traceOf(
  { store, tenant }: Call,
  { sentId, outboxId }: { sentId?: string | undefined; outboxId?: string | undefined },
): Promise<string> {
  if (sentId !== undefined) {
    const sent = await store.read(findSent, { organization: tenant, id: rowId('sent', sentId) ?? 0 });
    return sent?.trace ?? '';
  }
  if (outboxId !== undefined) {
    const id = rowId('outbox', outboxId) ?? 0;
    return (await store.read(traceOfSubmission, { tenant, id })) ?? '';
  }
  return refuse('invalid_arguments', 'Say which message: give sentId or outboxId.', {
    issues: [{ path: 'sentId', message: 'missing' }],
  });
}

/** A limited token learns of the mailboxes that it may see. */
async function within(call: Call, account: number | null): Promise<void> {
  if (account !== null) await mailboxOf(call, { mailboxId: publicId('mailbox', account) });
  else if (call.caller.mailboxes !== null || call.caller.service !== null) outOfScope(call.caller);
}
