import { FRESH_SIGN_IN_MS } from '../people/session-commands.ts';
import { type PageExchange, type Visitor } from './page-exchange.ts';
import { field, type FormState, usernameField } from './forms.ts';
import type { HtmlPart } from './html.ts';
import { tooManyAttempts } from './link-errors.ts';
import { translatorOf } from './translator.ts';

/** Checks the visitor's password; returns an error sentence. Accounts without a password pass. */
export async function checkOwnPassword(
  exchange: PageExchange,
  { person }: Visitor,
  given: string,
): Promise<string | undefined> {
  if (person.password === null) return undefined;
  const checked = await exchange.people.check(person.email, given, exchange.request.ip);
  const t = translatorOf(exchange.request);
  switch (checked.kind) {
    case 'right':
      return undefined;
    case 'wrong':
      return t('field.wrong-current');
    case 'throttled':
      return tooManyAttempts(t, checked.retryAfter);
    case 'busy':
      return t('error.busy');
  }
}

/** True for a session that began a short time ago. */
export function isFresh({ context }: Pick<PageExchange, 'context'>, { session }: Visitor): boolean {
  return context.clock() - session.createdAt < FRESH_SIGN_IN_MS;
}

/** Requires a recent sign-in or the password, before an irreversible action; returns an error sentence. */
export async function reauthenticate(
  exchange: PageExchange,
  visitor: Visitor,
  given: string,
): Promise<string | undefined> {
  if (isFresh(exchange, visitor)) return undefined;
  if (visitor.person.password !== null) return checkOwnPassword(exchange, visitor, given);
  return translatorOf(exchange.request)('field.set-password-first');
}

/** Password field for {@link reauthenticate}; undefined after a recent sign-in. */
export function reauthenticationField(exchange: PageExchange, visitor: Visitor, formState: FormState): HtmlPart {
  const { email, password } = visitor.person;
  if (isFresh(exchange, visitor) || password === null) return undefined;
  const t = translatorOf(exchange.request);
  const own = {
    name: 'password',
    label: t('field.your-password'),
    type: 'password',
    autocomplete: 'current-password',
  } as const;
  return [usernameField(email), field({ ...own, hint: t('field.not-fresh') }, formState)];
}
