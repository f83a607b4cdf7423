import { z } from 'zod';
import { plainAddress } from '../../../mail/message/plain-address.ts';
import { type AgentSend, agentSendOf } from '../../../mail/store/agent-send.ts';
import { traceOfSubmission } from '../../agents/decision-queries.ts';
import { publicId, rowId } from '../../ids.ts';
import { visibleLine } from '../../untrusted/invisible.ts';
import { fewOf, firstFitting } from '../../untrusted/room.ts';
import { type Call, operation } from '../operation.ts';
import { InMailbox } from '../reading/which.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf } from '../schemas.ts';
import { allowedAccounts, mailboxOf, outOfScope } from '../scope.ts';
import { findStories } from '../trace/find.ts';

export const explainDecision = operation({
  name: 'explain_decision',
  title: 'Why a message went or waits',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'read',
  description:
    'Says why a message that an agent sent went at once or waits for a person: the rules that held it, and which mail of outsiders had been read. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    ...InMailbox,
    messageId: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,80}$/, 'is none that sending, a list or trace_message gave')
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
    if (found === undefined) return notFound('email of an agent');
    await within(call, found.account);
    const exposure = firstFitting(found.exposure.map(shownExposure), EXPOSURE_ROOM);
    const more = found.exposure.length - exposure.length;
    return {
      decision: {
        outcome: found.outcome,
        at: isoOf(found.at),
        tokenId: found.credential,
        rules: firstFitting(found.reasons.map(shownRule), RULES_ROOM),
        exposure,
        ...(more > 0 && { moreExposure: more }),
      },
    };
  },
});

/** Characters of JSON. */
const EXPOSURE_ROOM = 24_000;
const RULES_ROOM = 30_000;
const MOST_WHY = 1_000;
const RECIPIENTS = { most: 50, chars: 4_000 };

function shownRule({ code, text, recipients = [] }: AgentSend['reasons'][number]) {
  const few = fewOf(recipients.map(plainAddress), RECIPIENTS, ({ length }) => length);
  const more = recipients.length - few.length;
  return {
    id: code,
    why: visibleLine(`${text}.`, MOST_WHY),
    recipients: few,
    ...(more > 0 && { moreRecipients: more }),
  };
}

function shownExposure({ email, author, verdict, authentic, at }: AgentSend['exposure'][number]) {
  return { messageId: `msg_${email}`, from: plainAddress(author), verdict, authentic, readAt: isoOf(at) };
}

interface Which {
  mailbox?: string | undefined;
  messageId?: string | undefined;
  outboxId?: string | undefined;
}

/** A copy in a mailbox may be of several messages that were handed over: one of them is what an agent sent. */
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
    return (await findStories(call, viewer, named)).map(({ trace }) => trace);
  }
  if (outboxId !== undefined) {
    const trace = await store.read(traceOfSubmission, { tenant, id: rowId('outbox', outboxId) ?? 0 });
    return trace === undefined ? [] : [trace];
  }
  return refuse('invalid_arguments', 'Say which message: give messageId or outboxId.', {
    issues: [{ path: 'messageId', message: 'missing' }],
  });
}

/** A limited token learns of the mailboxes that it may see. */
async function within(call: Call, account: number | null): Promise<void> {
  if (account !== null) await mailboxOf(call, { mailboxId: publicId('mailbox', account) });
  else if (call.caller.mailboxes !== null || call.caller.service !== null) outOfScope(call.caller);
}
