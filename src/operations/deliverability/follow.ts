import { findSentByTrace } from '../../sending/sent-queries.ts';
import { type Standing, type Verdict, verdictOf, verdictSoFar } from '../../deliverability/verdict.ts';
import type { Wait } from '../../waiting/wait.ts';
import type { Call } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { type Story, storyOf } from '../trace/timeline.ts';

/** Seconds that an answer may take where nobody is told how far it is: clients give up at 60. */
const LONGEST = 50;

export interface Followed {
  verdict: Verdict;
  entries: Story['entries'];
}

/** Follows a message that the caller sent until something is known of it, or the time (s) is over. */
export async function follow(call: Call, trace: string, timeout: number): Promise<Followed> {
  const { caller, audience, waits } = call;
  const seconds = audience?.progress === undefined ? Math.min(LONGEST, timeout) : timeout;
  if (seconds === 0) return found(await look(call, trace));
  using wait = await waits.begin({ account: undefined, caller, seconds, audience });
  // It was sent already: where no place is free it is told how it stands.
  if (wait === undefined) return found(await look(call, trace));
  wait.ended(await waits.story.follow({ tenant: call.tenant, accounts: null }, wakes(wait, trace)));
  for (;;) {
    const looked = await look(call, trace);
    if (verdictOf(looked.standing) !== undefined) return found(looked);
    const woken = await wait.next();
    if (woken === 'out' || !(await waits.holds(caller))) {
      refuse('unauthorized', 'The token ended or was stopped while this waited: whoami says whether it still holds.');
    }
    if (woken !== 'changed') return found(await look(call, trace));
  }
}

function wakes(wait: Wait, trace: string): Parameters<Call['waits']['story']['follow']>[1] {
  return (lines) => {
    if (lines.some((line) => line.trace === trace)) wait.wake('changed');
  };
}

type Looked = Omit<Followed, 'verdict'> & { standing: Standing };

async function look({ store, tenant }: Call, trace: string): Promise<Looked> {
  const [story, sent] = await Promise.all([
    storyOf(store, { tenant, accounts: null }, trace),
    store.read(findSentByTrace, { trace }),
  ]);
  const entries = entriesFor(story);
  const standing = {
    events: entries.map(({ event }) => event),
    waiting: (story?.waiting ?? []).map(({ state }) => state),
    here: sent?.recipients[0]?.state === 'delivered',
    whole: typeof sent?.heldBecause === 'string' || typeof sent?.scheduledAt === 'number',
    cancelled: typeof sent?.cancelledAt === 'number',
  };
  return { standing, entries };
}

/** Of a recipient who is here, where copies go on to and what a webhook answered is not the sender's business. */
function entriesFor(story: Story | undefined): Story['entries'] {
  const { entries } = story ?? { entries: [] };
  const onward = new Set(entries.filter(({ event }) => event === 'relayed').map(({ recipient }) => recipient));
  return entries.filter(
    ({ event, recipient }) => event !== 'webhook' && (recipient === undefined || !onward.has(recipient)),
  );
}

function found({ standing, entries }: Looked): Followed {
  return { verdict: verdictSoFar(standing), entries };
}
