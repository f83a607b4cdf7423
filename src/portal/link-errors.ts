import type { FastifyReply } from 'fastify';
import type { ClaimRefusal } from '../people/claim-commands.ts';
import type { ClaimLinkOutcome } from '../people/claim.ts';
import { MAX_PASSWORD, MIN_PASSWORD, type PasswordFault } from '../people/password.ts';
import { type PageExchange, sendMessagePage } from './page-exchange.ts';
import type { FormState } from './forms.ts';
import type { PlainPortalKey } from './message-types.ts';
import { type Translator, translatorOf } from './translator.ts';

/** The token in the link's URL; rendered only into the form of its own page. */
export function linkToken({ request }: PageExchange): string {
  const { token } = request.query as Record<string, unknown>;
  return typeof token === 'string' && /^[0-9a-f]{48}$/.test(token) ? token : '';
}

export function tooManyAttempts(t: Translator, seconds: number, secrets: 'passwords' | 'codes' = 'passwords'): string {
  return t(secrets === 'codes' ? 'error.too-many-codes' : 'error.too-many-passwords', { wait: t.wait(seconds) });
}

const SIGN_IN = { href: '/login', link: 'button.sign-in' } as const;

/** Where a reader of the error goes on. */
const REFUSED = {
  missing: SIGN_IN,
  used: SIGN_IN,
  expired: { href: '/auth/reset', link: 'reset.title' },
  taken: SIGN_IN,
  frozen: { href: '/', link: 'button.home' },
} as const satisfies Readonly<Record<ClaimRefusal, { href: string; link: PlainPortalKey }>>;

/** Sends the error page of a link. Does not repeat its token. */
export function sendLinkError(exchange: PageExchange, why: ClaimRefusal): FastifyReply {
  const t = translatorOf(exchange.request);
  const { href, link } = REFUSED[why];
  const notice = { title: t(`link.${why}`), text: t(`link.${why}-text`), href, link: t(link) };
  return sendMessagePage(exchange, notice, why === 'missing' ? 404 : 410);
}

/** An error that the visitor can correct in the form. */
export type ClaimFormError = Exclude<ClaimLinkOutcome, { organization: number } | { kind: ClaimRefusal }>;

/** Maps the error to its field, with the HTTP status. */
export function formErrorOf(
  t: Translator,
  done: ClaimFormError,
  values: FormState['values'],
): { filled: FormState; status: number } {
  const wrong = (errors: FormState['errors']) => ({ filled: { values, errors }, status: 422 });
  switch (done.kind) {
    case 'bad-password':
      return wrong({ password: passwordFaultText(t, done.fault) });
    case 'bad-email':
      return wrong({ email: t('field.bad-address') });
    case 'sign-in':
      return wrong({ password: t('field.wrong-account-password') });
    case 'throttled':
      return { filled: { values, errors: {}, problem: tooManyAttempts(t, done.retryAfter) }, status: 429 };
    case 'busy':
      return { filled: { values, errors: {}, problem: t('error.busy') }, status: 503 };
  }
}

/** Explains why a new password is not accepted. */
export function passwordFaultText(t: Translator, fault: PasswordFault): string {
  switch (fault) {
    case 'short':
      return t('field.password-short', { count: MIN_PASSWORD });
    case 'long':
      return t('field.password-long', { count: MAX_PASSWORD });
    case 'control':
      return t('field.password-control');
  }
}

/** True if the link itself was refused. */
export function isLinkRefusal(done: { kind: string }): done is { kind: ClaimRefusal } {
  return done.kind in REFUSED;
}
