import { z } from 'zod';
import { nextAfter, VERDICTS } from '../../deliverability/verdict.ts';
import { rowId } from '../../ids.ts';
import { noteOutsidersText } from '../../reading/exposure.ts';
import type { SendResult } from '../../sending/send-answer.ts';
import { findSent } from '../../sending/sent-queries.ts';
import { type Call, operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
import { Which } from '../domains/which.ts';
import { domainOf } from '../scope.ts';
import { sendTest } from '../sending/send.ts';
import { Event, shownStory } from '../trace/shown.ts';
import { follow } from './follow.ts';

export const runDeliveryTest = operation({
  name: 'run_delivery_test',
  title: 'Test delivery',
  toolset: 'email',
  reach: 'project',
  action: 'deploy',
  untrusted: true,
  streams: true,
  description: 'Mails a test from postmaster of a domain, by default to the owner, and follows it. Needs send too.',
  hints: { openWorld: true },
  input: z.strictObject({
    ...Which,
    to: Line(3, 500).optional(),
    allowDuplicate: z.boolean().optional(),
    timeoutSeconds: z.number().int().min(0).max(300).default(25),
  }),
  output: z.object({
    testId: z.string(),
    verdict: z.enum(VERDICTS),
    steps: z.array(Event),
    next: z.string(),
  }),
  rest: { method: 'POST', path: '/api/email/domains/:domainId/delivery-test' },
  async run(call, { domainId, domain, to, allowDuplicate = false, timeoutSeconds }) {
    const { name } = await domainOf(call, { domainId, domain });
    mayToo(call, 'send');
    const sent = await sendTest(call, { from: `postmaster@${name}`, to, allowDuplicate });
    const { verdict, entries } = await follow(call, await traceOf(call, sent), timeoutSeconds);
    if (entries.some(({ text }) => text !== undefined)) await noteOutsidersText(call);
    return {
      testId: sent.id ?? '',
      verdict,
      steps: shownStory(entries).timeline,
      next: nextAfter(verdict, { approveUrl: sent.approveUrl, repeated: sent.duplicateOf !== null }),
    };
  },
});

/** It sends as well: a token that may only deploy does not write to anybody. */
function mayToo({ caller }: Call, action: 'send'): void {
  if (caller.actions.has(action)) return;
  refuse('action_not_allowed', `This token may not ${action}: use one with the actions "deploy" and "${action}".`, {
    requiredAction: action,
    grantedActions: [...caller.actions],
  });
}

async function traceOf(call: Call, { id }: SendResult): Promise<string> {
  const sent = await call.store.read(findSent, { organization: call.tenant, id: rowId('sent', id ?? '') ?? 0 });
  if (sent === undefined) throw new Error('what was sent has no record');
  return sent.trace;
}
