import type { Call } from '../operation.ts';
import { notFound, refuse, Refused, type Refusal } from '../refusal.ts';

/** Seconds that an answer may take where nobody is told how far it is: clients give up at 60. */
const LONGEST = 50;

/**
 * Looks, and looks again whenever something in the mailbox changes, until `look` answers something or the time is over.
 * `over`: the time is over; otherwise the server stops, or others need the place, and the caller comes back.
 */
export async function waitFor<T>(
  call: Call,
  account: number,
  seconds: number,
  look: () => Promise<T | undefined>,
): Promise<{ found: T | undefined; over: boolean }> {
  const { caller, audience } = call;
  const most = audience?.progress === undefined ? Math.min(LONGEST, seconds) : seconds;
  // Who only asks needs no place among those who wait.
  if (most === 0) return { found: await look(), over: true };
  using wait = (await call.waits.begin({ account, caller, seconds: most, audience })) ?? tooMany();
  for (;;) {
    const found = await look();
    if (found !== undefined) return { found, over: false };
    const woken = await wait.next();
    if (woken === 'stopping' || woken === 'displaced' || woken === 'gone') return { found: undefined, over: false };
    if (woken === 'out' || !(await call.waits.holds(caller))) {
      refuse('unauthorized', 'The token ended or was stopped while this waited: whoami says whether it still holds.');
    }
    if (woken === 'time') return { found: await look(), over: true };
  }
}

/** To who would wait while as many do as may. */
export const TOO_MANY: Refusal = {
  error: 'rate_limited',
  message: 'Too many calls and streams wait already: end some of them, or ask with timeoutSeconds 0.',
  retryAfterSeconds: 5,
};

function tooMany(): never {
  throw new Refused(TOO_MANY);
}

export function mailboxGone(): never {
  return notFound('mailbox');
}
