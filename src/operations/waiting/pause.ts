import type { Call } from '../../core/operation.ts';
import { notFound, refuse, RefusedError, type Refusal } from '../../core/refusal.ts';

/** Maximum seconds of an answer without progress: clients give up at 60. */
const MAX_SECONDS = 50;

/**
 * Calls `look` at once and after each change in the mailbox, until it returns a result or the time is over. `over`:
 * timeout; otherwise the server stops or others need the slot, and the caller comes back.
 */
export async function waitFor<T>(
  call: Call,
  account: number,
  seconds: number,
  look: () => Promise<T | undefined>,
): Promise<{ found: T | undefined; over: boolean }> {
  const { caller, audience } = call;
  const most = audience?.progress === undefined ? Math.min(MAX_SECONDS, seconds) : seconds;
  // A call with timeout 0 needs no slot.
  if (most === 0) return { found: await look(), over: true };
  using wait = (await call.waits.begin({ account, caller, seconds: most, audience })) ?? tooMany();
  for (;;) {
    const found = await look();
    if (found !== undefined) return { found, over: false };
    const woken = await wait.next();
    if (woken === 'stopping' || woken === 'displaced' || woken === 'gone') return { found: undefined, over: false };
    if (woken === 'out' || !(await call.waits.isTokenValid(caller))) {
      refuse('unauthorized', 'The token was revoked or stopped during the wait: check it with whoami.');
    }
    if (woken === 'time') return { found: await look(), over: true };
  }
}

/** Refuses a wait above the limit. */
export const TOO_MANY: Refusal = {
  error: 'rate_limited',
  message: 'Limit reached: too many waiting calls and streams. End some of them, or use timeoutSeconds 0.',
  retryAfterSeconds: 5,
};

function tooMany(): never {
  throw new RefusedError(TOO_MANY);
}

export function mailboxGone(): never {
  return notFound('mailbox');
}
