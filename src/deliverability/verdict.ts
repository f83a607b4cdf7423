/** Outcome of a test message. `queued`: retried automatically; `waiting`: awaits approval. */
export const TEST_OUTCOMES = ['delivered', 'queued', 'refused', 'waiting'] as const;
export type TestOutcome = (typeof TEST_OUTCOMES)[number];

/** Delivery state of a message for one recipient. */
export interface DeliveryState {
  /** Event names of its timeline, as in trace_message. */
  events: readonly string[];
  /** States of its queue rows: 1 is held. */
  waiting: readonly number[];
  /** The recipient is local. */
  here: boolean;
  /** Scheduled or held as a whole, without queue rows yet. */
  whole: boolean;
  cancelled: boolean;
}

/** Outcome so far; undefined while delivery is in progress. */
export function testOutcomeOf({ events, waiting, here, whole, cancelled }: DeliveryState): TestOutcome | undefined {
  // Local delivery is done; a bounce then concerns a forwarded copy.
  if (here) return 'delivered';
  if (cancelled || events.includes('bounced')) return 'refused';
  if (events.includes('delivered')) return 'delivered';
  if (waiting.includes(1) || (whole && waiting.length === 0)) return 'waiting';
  return events.includes('deferred') ? 'queued' : undefined;
}

/** Outcome after a timeout. Without a queue row there are no more attempts: it was cancelled. */
export function testOutcomeSoFar(state: DeliveryState): TestOutcome {
  return testOutcomeOf(state) ?? (state.waiting.length > 0 ? 'queued' : 'refused');
}

const NEXT: Readonly<Record<TestOutcome, string>> = {
  delivered:
    'Check in which folder it arrived, inbox or Junk, and its Authentication-Results; get_deliverability_report lists what to fix.',
  queued: 'Nothing to do: delivery is retried automatically. Call trace_message with testId for the status.',
  refused:
    'Read the last events, fix what they name (see get_deliverability_report), then test again with allowDuplicate.',
  waiting: 'It is held: the last event says who must approve it. Then call trace_message with testId for the status.',
};

/** Advice after an outcome. `approveUrl`: page on which a person approves it; `repeated`: no new test was sent. */
export function nextStepAfter(
  verdict: TestOutcome,
  { approveUrl, repeated }: { approveUrl: string | null; repeated: boolean },
): string {
  const which = repeated ? 'This test was sent in the last ten minutes; set allowDuplicate to send another. ' : '';
  const byPerson = verdict === 'waiting' && approveUrl !== null;
  return (
    which +
    (byPerson ? `A person has to approve it at ${approveUrl}. Then call trace_message for the status.` : NEXT[verdict])
  );
}
