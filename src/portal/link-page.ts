import type { FastifyReply } from 'fastify';
import type { ClaimRefusal } from '../people/claim-commands.ts';
import type { ClaimOutcome } from '../people/claim.ts';
import { type Asked, sendNotice } from './door.ts';
import type { Filled } from './forms.ts';

/** What a link's URL carries; only ever put back into the form of its own page. */
export function linkToken({ request }: Asked): string {
  const { token } = request.query as Record<string, unknown>;
  return typeof token === 'string' && /^[0-9a-f]{48}$/.test(token) ? token : '';
}

export function tooMany(seconds: number): string {
  const wait = seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return `Too many wrong passwords came from your network. Try again in ${wait}.`;
}

const SIGN_IN = { href: '/login', link: 'Sign in' };

const REFUSED: Readonly<Record<ClaimRefusal, { title: string; text: string; href: string; link: string }>> = {
  missing: {
    title: 'This link opens nothing',
    text: 'It may have been cut off on its way. Copy the whole address out of the letter, or ask for a new link.',
    ...SIGN_IN,
  },
  used: {
    title: 'This link was used',
    text: 'Links open once. If you used it yourself, sign in; if you did not, tell whoever runs this mail server.',
    ...SIGN_IN,
  },
  expired: {
    title: 'This link is too old',
    text: 'Ask whoever sent it for a new one. A link for a new password you can ask for yourself.',
    href: '/auth/reset',
    link: 'Ask for a new password',
  },
  taken: {
    title: 'This organization is claimed',
    text: 'Somebody has opened a claim link of it before. If that was you, sign in.',
    ...SIGN_IN,
  },
  frozen: {
    title: 'This organization is frozen',
    text: 'Whoever runs this mail server has stopped it. Ask them why.',
    href: '/',
    link: 'To the front page',
  },
};

/** A link that opens nothing, and what to do instead. Its token is not shown again. */
export function refusedLink(asked: Asked, why: ClaimRefusal): FastifyReply {
  return sendNotice(asked, REFUSED[why], why === 'missing' ? 404 : 410);
}

/** What can be put right in the form of a link's page. */
export type Trouble = Exclude<ClaimOutcome, { organization: number } | { kind: ClaimRefusal }>;

/** How the page says it, beside the field that it is about. */
export function troubleOf(done: Trouble, values: Filled['values']): { filled: Filled; status: number } {
  const wrong = (errors: Filled['errors']) => ({ filled: { values, errors }, status: 422 });
  switch (done.kind) {
    case 'bad-password':
      return wrong({ password: done.problem });
    case 'bad-email':
      return wrong({ email: 'This is not a mail address.' });
    case 'sign-in':
      return wrong({ password: 'This is not the password of the account with this address.' });
    case 'throttled':
      return { filled: { values, errors: {}, problem: tooMany(done.retryAfter) }, status: 429 };
    case 'busy':
      return { filled: { values, errors: {}, problem: BUSY }, status: 503 };
  }
}

export const BUSY = 'Too many people sign in at this moment. Try again in a few seconds.';

/** Whether an outcome means that the link itself opens nothing. */
export function isRefusal(done: { kind: string }): done is { kind: ClaimRefusal } {
  return done.kind in REFUSED;
}
