import type { FastifyReply } from 'fastify';
import type { ClaimRefusal } from '../people/claim-commands.ts';
import type { ClaimLinkOutcome } from '../people/claim.ts';
import { type PageExchange, sendNotice } from './page-exchange.ts';
import type { FormState } from './forms.ts';

/** The token in the link's URL; rendered only into the form of its own page. */
export function linkToken({ request }: PageExchange): string {
  const { token } = request.query as Record<string, unknown>;
  return typeof token === 'string' && /^[0-9a-f]{48}$/.test(token) ? token : '';
}

export function tooManyAttempts(seconds: number, secrets = 'passwords'): string {
  const wait = seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return `Too many wrong ${secrets}${secrets === 'codes' ? '' : ' from your network'}. Try again in ${wait}.`;
}

const SIGN_IN = { href: '/login', link: 'Sign in' };

const REFUSED: Readonly<Record<ClaimRefusal, { title: string; text: string; href: string; link: string }>> = {
  missing: {
    title: 'Invalid link',
    text: 'The link is incomplete or unknown. Copy the whole address from the email, or request a new link.',
    ...SIGN_IN,
  },
  used: {
    title: 'Link already used',
    text: 'A link works once. If you used it, sign in. If you did not, inform the operator of this mail server.',
    ...SIGN_IN,
  },
  expired: {
    title: 'Link expired',
    text: 'Ask the sender for a new link. For a password reset, request one yourself.',
    href: '/auth/reset',
    link: 'Reset password',
  },
  taken: {
    title: 'Organization already claimed',
    text: 'A claim link of this organization was used before. If that was you, sign in.',
    ...SIGN_IN,
  },
  frozen: {
    title: 'Organization frozen',
    text: 'The operator of this mail server has frozen this organization. Contact the operator.',
    href: '/',
    link: 'Home',
  },
};

/** Sends the error page of a link. Does not repeat its token. */
export function sendLinkError(exchange: PageExchange, why: ClaimRefusal): FastifyReply {
  return sendNotice(exchange, REFUSED[why], why === 'missing' ? 404 : 410);
}

/** An error that the visitor can correct in the form. */
export type ClaimFormError = Exclude<ClaimLinkOutcome, { organization: number } | { kind: ClaimRefusal }>;

/** Maps the error to its field, with the HTTP status. */
export function formErrorOf(done: ClaimFormError, values: FormState['values']): { filled: FormState; status: number } {
  const wrong = (errors: FormState['errors']) => ({ filled: { values, errors }, status: 422 });
  switch (done.kind) {
    case 'bad-password':
      return wrong({ password: done.problem });
    case 'bad-email':
      return wrong({ email: 'Not a valid email address.' });
    case 'sign-in':
      return wrong({ password: 'Wrong password for the account with this address.' });
    case 'throttled':
      return { filled: { values, errors: {}, problem: tooManyAttempts(done.retryAfter) }, status: 429 };
    case 'busy':
      return { filled: { values, errors: {}, problem: BUSY }, status: 503 };
  }
}

export const BUSY = 'Too many concurrent sign-ins. Try again in a few seconds.';

/** True if the link itself was refused. */
export function isLinkRefusal(done: { kind: string }): done is { kind: ClaimRefusal } {
  return done.kind in REFUSED;
}
