/** What became of a test mail. `queued`: it is tried again by itself; `waiting`: for somebody's word. */
export const VERDICTS = ['delivered', 'queued', 'refused', 'waiting'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** How it stands with a message to one recipient. */
export interface Standing {
  /** Events of its story, as trace_message has them. */
  events: readonly string[];
  /** States of its queue rows: 1 is held. */
  waiting: readonly number[];
  /** The recipient is on this server. */
  here: boolean;
  /** It waits as a whole, for its time or for a person, and has no rows before. */
  whole: boolean;
  cancelled: boolean;
}

/** What is known for now; undefined: it is under way, and more will be known soon. */
export function verdictOf({ events, waiting, here, whole, cancelled }: Standing): Verdict | undefined {
  // Who is here has it; a bounce is then of a copy that went on.
  if (here) return 'delivered';
  if (cancelled || events.includes('bounced')) return 'refused';
  if (events.includes('delivered')) return 'delivered';
  if (waiting.includes(1) || (whole && waiting.length === 0)) return 'waiting';
  return events.includes('deferred') ? 'queued' : undefined;
}

/** When nothing more was heard in time. Without a row nobody tries any more: it was cancelled. */
export function verdictSoFar(standing: Standing): Verdict {
  return verdictOf(standing) ?? (standing.waiting.length > 0 ? 'queued' : 'refused');
}

const NEXT: Readonly<Record<Verdict, string>> = {
  delivered:
    'Look where it went, inbox or Junk, and what its Authentication-Results say there; get_deliverability_report names what to mend.',
  queued: 'Nothing has to be done: it is tried again by itself, and trace_message tells the rest by testId.',
  refused: 'Read the last steps, mend what they name (get_deliverability_report), then test again with allowDuplicate.',
  waiting: 'It has not left: the last step says whose word it waits for. Then trace_message tells the rest by testId.',
};

/** What to do after a verdict. `approveUrl` is the page for a person to let it go; `repeated`: no new test was sent. */
export function nextAfter(
  verdict: Verdict,
  { approveUrl, repeated }: { approveUrl: string | null; repeated: boolean },
): string {
  const which = repeated ? 'This is the test of the last ten minutes: allowDuplicate sends another one. ' : '';
  const byPerson = verdict === 'waiting' && approveUrl !== null;
  return (
    which + (byPerson ? `A person lets it go at ${approveUrl}. Then trace_message tells the rest.` : NEXT[verdict])
  );
}
