import { z } from 'zod';
import { plainAddress } from '../../../mail/message/plain-address.ts';
import { type AgentSend, agentSendOf } from '../../../mail/agents/gate/send-log.ts';
import { traceOfSubmission } from '../../agents/decision-queries.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { visibleLine } from '../../untrusted/invisible.ts';
import { takeWithin, firstFitting } from '../../untrusted/result-budget.ts';
import { type Call, operation } from '../../core/operation.ts';
import { InMailbox } from '../reading/mailbox-arguments.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf } from '../../core/schemas.ts';
import { allowedAccounts, mailboxOf, outOfScope } from '../scope.ts';
import { findMessageTraces } from '../trace/find.ts';

export const explainDecision = operation({
  name: 'explain_decision',
  title: 'Explain why a message was sent or held',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'read',
  orAction: 'mail_read',
  description:
    "Explains why an agent's message was sent at once or awaits approval: the rules that held it, and which outsiders' mail had been read. Changes nothing.",
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    ...InMailbox,
    messageId: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,80}$/, 'must be a message id of a sending tool, a list or trace_message')
      .describe('Message id; or give outboxId')
      .optional(),
    outboxId: Id('outbox').optional(),
  }),
  output: z.object({
    decision: z.object({
      outcome: z.enum(['taken', 'scheduled', 'held']),
      at: z.string(),
      tokenId: z.string().describe('or the mailbox whose password sent it'),
      rules: z.array(
        z.object({
          id: z.string(),
          why: z.string(),
          recipients: z.array(z.string()),
          moreRecipients: z.number().optional(),
        }),
      ),
      exposure: z.array(
        z.object({
          messageId: z.string(),
          from: z.string(),
          verdict: z.string(),
          authentic: z.boolean(),
          readAt: z.string(),
        }),
      ),
      moreExposure: z.number().optional(),
    }),
  }),
  async run(call, which) {
    const found = await decisionOn(call, which);
    const isOwn = found?.credential === call.caller.actor;
    if (found === undefined || !(isOwn || call.caller.actions.has('read'))) return notFound('email of an agent');
    await checkMailbox(call, found.account);
    const exposure = firstFitting(found.readMail.map(shownTaint), MAX_TAINT_CHARS);
    const more = found.readMail.length - exposure.length;
    return {
      decision: {
        outcome: found.outcome,
        at: isoOf(found.at),
        tokenId: found.credential,
        rules: firstFitting(found.reasons.map(shownRule), MAX_RULES_CHARS),
        exposure,
        ...(more > 0 && { moreExposure: more }),
      },
    };
  },
});

/** Characters of JSON. */
const MAX_TAINT_CHARS = 24_000;
const MAX_RULES_CHARS = 30_000;
const MAX_WHY = 1_000;
const RECIPIENTS = { most: 50, chars: 4_000 };

function shownRule({ code, text, recipients = [] }: AgentSend['reasons'][number]) {
  const few = takeWithin(recipients.map(plainAddress), RECIPIENTS, ({ length }) => length);
  const more = recipients.length - few.length;
  return {
    id: code,
    why: visibleLine(`${text}.`, MAX_WHY),
    recipients: few,
    ...(more > 0 && { moreRecipients: more }),
  };
}

function shownTaint({ email, author, verdict, authentic, at }: AgentSend['readMail'][number]) {
  return { messageId: `msg_${email}`, from: plainAddress(author), verdict, authentic, readAt: isoOf(at) };
}

interface Which {
  mailbox?: string | undefined;
  messageId?: string | undefined;
  outboxId?: string | undefined;
}

/** Finds the recorded decision. A copy in a mailbox may belong to several submissions, one of which an agent sent. */
async function decisionOn(call: Call, which: Which): ReturnType<typeof agentSendOf.run> {
  const { store, tenant } = call;
  for (const trace of await tracesOf(call, which)) {
    const found = await store.read(agentSendOf, { tenant, trace });
    if (found !== undefined) return found;
  }
  return undefined;
}

async function tracesOf(call: Call, { outboxId, ...named }: Which): Promise<string[]> {
  const { store, tenant } = call;
  if (named.messageId !== undefined) {
    const viewer = { tenant, accounts: await allowedAccounts(call) };
    return (await findMessageTraces(call, viewer, named)).map(({ trace }) => trace);
  }
  if (outboxId !== undefined) {
    const trace = await store.read(traceOfSubmission, { tenant, id: rowId('outbox', outboxId) ?? 0 });
    return trace === undefined ? [] : [trace];
  }
  return refuse('invalid_arguments', 'Give messageId or outboxId.', {
    issues: [{ path: 'messageId', message: 'missing' }],
  });
}

/** Checks that a limited token may see the mailbox. */
async function checkMailbox(call: Call, account: number | null): Promise<void> {
  if (account !== null) await mailboxOf(call, { mailboxId: publicId('mailbox', account) });
  else if (call.caller.mailboxes !== null || call.caller.service !== null) outOfScope(call.caller);
}
