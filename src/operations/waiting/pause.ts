import type { Call } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';

/** Seconds that an answer may take where nobody is told how far it is: clients give up at 60. */
const LONGEST = 50;

/**
 * Looks, and looks again whenever something in the mailbox changes, until `look` answers something or the time is over.
 * `over`: the time is over; otherwise the server stops, and the caller comes back.
 */
export async function waitFor<T>(
  call: Call,
  account: number,
  seconds: number,
  look: () => Promise<T | undefined>,
): Promise<{ found: T | undefined; over: boolean }> {
  const { caller, audience } = call;
  const most = audience?.progress === undefined ? Math.min(LONGEST, seconds) : seconds;
  using wait = (await call.waits.begin({ account, caller, seconds: most, audience })) ?? tooMany();
  for (;;) {
    const found = await look();
    if (found !== undefined) return { found, over: false };
    const woken = await wait.next();
    if (woken === 'stopping' || woken === 'gone') return { found: undefined, over: false };
    if (woken === 'out' || !(await call.waits.holds(caller))) {
      refuse('unauthorized', 'The token ended or was stopped while this waited: whoami says whether it still holds.');
    }
    if (woken === 'time') return { found: await look(), over: true };
  }
}

function tooMany(): never {
  return refuse('rate_limited', 'Too many calls wait already: end some of them, or ask with timeoutSeconds 0.', {
    retryAfterSeconds: 5,
  });
}

export function mailboxGone(): never {
  return notFound('mailbox');
}
