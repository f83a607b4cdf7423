import { z } from 'zod';
import {
  nextStepAfter,
  TEST_OUTCOMES,
  type DeliveryState,
  type TestOutcome,
  testOutcomeOf,
  testOutcomeSoFar,
} from '../../deliverability/verdict.ts';
import { rowId } from '../../core/ids.ts';
import { recordUntrustedText } from '../../reading/read-record.ts';
import type { SendResult } from '../../sending/send-result.ts';
import { findSent, findSentByTrace } from '../../sending/sent-queries.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import { DomainArguments } from '../domains/arguments.ts';
import { findOwnDomain } from '../scope.ts';
import { sendTest } from '../sending/send.ts';
import { Event, shownTimeline } from '../trace/shown.ts';
import { TIMEOUT } from '../waiting/email.ts';
import type { PendingWait } from '../../core/mail-waits.ts';
import { type MessageTimeline, timelineOf } from '../trace/timeline.ts';

export const runDeliveryTest = operation({
  name: 'run_delivery_test',
  title: 'Test delivery',
  toolset: 'email',
  reach: 'project',
  action: 'deploy',
  untrusted: true,
  streams: true,
  description: 'Sends a test from postmaster of a domain and follows its delivery. Also needs the action send.',
  hints: { openWorld: true },
  input: z.strictObject({
    ...DomainArguments,
    to: Line(3, 500).describe('Default: the owner').optional(),
    allowDuplicate: z.boolean().describe('Send again within ten minutes').optional(),
    timeoutSeconds: z.number().int().min(0).max(300).default(25).describe(TIMEOUT),
  }),
  output: z.object({
    testId: z.string(),
    verdict: z.enum(TEST_OUTCOMES),
    steps: z.array(Event),
    next: z.string(),
  }),
  rest: { method: 'POST', path: '/api/email/domains/:domainId/delivery-test' },
  async run(call, { domainId, domain, to, allowDuplicate = false, timeoutSeconds }) {
    const { name } = await findOwnDomain(call, { domainId, domain });
    mayToo(call, 'send');
    const sent = await sendTest(call, { from: `postmaster@${name}`, to, allowDuplicate });
    const { verdict, entries } = await follow(call, await traceOf(call, sent), timeoutSeconds);
    if (entries.some(({ text }) => text !== undefined)) await recordUntrustedText(call);
    return {
      testId: sent.id ?? '',
      verdict,
      steps: shownTimeline(entries).timeline,
      next: nextStepAfter(verdict, { approveUrl: sent.approveUrl, repeated: sent.duplicateOf !== null }),
    };
  },
});

/** Refuses a token that may not send. */
function mayToo({ caller }: Call, action: 'send'): void {
  if (caller.actions.has(action)) return;
  refuse('action_not_allowed', `This token lacks the action "${action}": use one with "deploy" and "${action}".`, {
    requiredAction: action,
    grantedActions: [...caller.actions],
  });
}

async function traceOf(call: Call, { id }: SendResult): Promise<string> {
  const sent = await call.store.read(findSent, { organization: call.tenant, id: rowId('sent', id ?? '') ?? 0 });
  if (sent === undefined) throw new Error('the sent message has no record');
  return sent.trace;
}

/** Maximum seconds of an answer without progress: clients give up at 60. */
const MAX_SECONDS = 50;

interface Followed {
  verdict: TestOutcome;
  entries: MessageTimeline['entries'];
}

/** Follows a message that the caller sent until it is delivered, deferred or failed, or the time (s) is over. */
async function follow(call: Call, trace: string, timeout: number): Promise<Followed> {
  const { caller, audience, waits } = call;
  const seconds = audience?.progress === undefined ? Math.min(MAX_SECONDS, timeout) : timeout;
  if (seconds === 0) return found(await look(call, trace));
  using wait = await waits.begin({ account: undefined, caller, seconds, audience });
  // The message is sent already: without a free slot, returns its current status.
  if (wait === undefined) return found(await look(call, trace));
  wait.onEnd(await waits.journal.follow({ tenant: call.tenant, accounts: null }, wakes(wait, trace)));
  for (;;) {
    const looked = await look(call, trace);
    if (testOutcomeOf(looked.status) !== undefined) return found(looked);
    const woken = await wait.next();
    if (woken === 'out' || !(await waits.isTokenValid(caller))) {
      refuse('unauthorized', 'The token was revoked or stopped during the wait: check it with whoami.');
    }
    if (woken !== 'changed') return found(await look(call, trace));
  }
}

function wakes(wait: PendingWait, trace: string): Parameters<Call['waits']['journal']['follow']>[1] {
  return (lines) => {
    if (lines.some((line) => line.trace === trace)) wait.wake('changed');
  };
}

type Looked = Omit<Followed, 'verdict'> & { status: DeliveryState };

async function look({ store, tenant }: Call, trace: string): Promise<Looked> {
  const [timeline, sent] = await Promise.all([
    timelineOf(store, { tenant, accounts: null }, trace),
    store.read(findSentByTrace, { trace }),
  ]);
  const entries = entriesFor(timeline);
  const status = {
    events: entries.map(({ event }) => event),
    waiting: (timeline?.waiting ?? []).map(({ state }) => state),
    here: sent?.recipients[0]?.state === 'delivered',
    whole: typeof sent?.heldBecause === 'string' || typeof sent?.scheduledAt === 'number',
    cancelled: typeof sent?.cancelledAt === 'number',
  };
  return { status, entries };
}

/** Hides local recipients' forwards and webhook answers, which do not concern the sender. */
function entriesFor(timeline: MessageTimeline | undefined): MessageTimeline['entries'] {
  const { entries } = timeline ?? { entries: [] };
  const onward = new Set(entries.filter(({ event }) => event === 'relayed').map(({ recipient }) => recipient));
  return entries.filter(
    ({ event, recipient }) => event !== 'webhook' && (recipient === undefined || !onward.has(recipient)),
  );
}

function found({ status, entries }: Looked): Followed {
  return { verdict: testOutcomeSoFar(status), entries };
}
