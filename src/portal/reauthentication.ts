import { type PageExchange, type Visitor } from './page-exchange.ts';
import { field, type FormState, usernameField } from './forms.ts';
import type { HtmlPart } from './html.ts';
import { BUSY, tooManyAttempts } from './link-errors.ts';

const MINUTE_MS = 60_000;
/** After this time a person must re-enter the password for irreversible actions. */
const MAX_SIGN_IN_AGE_MS = 15 * MINUTE_MS;

/** Checks the visitor's password; returns an error sentence. Accounts without a password pass. */
export async function checkOwnPassword(
  exchange: PageExchange,
  { person }: Visitor,
  given: string,
): Promise<string | undefined> {
  if (person.password === null) return undefined;
  const checked = await exchange.people.check(person.email, given, exchange.request.ip);
  switch (checked.kind) {
    case 'right':
      return undefined;
    case 'wrong':
      return 'Wrong current password.';
    case 'throttled':
      return tooManyAttempts(checked.retryAfter);
    case 'busy':
      return BUSY;
  }
}

/** True for a session that began a short time ago. */
export function isFresh({ context }: Pick<PageExchange, 'context'>, { session }: Visitor): boolean {
  return context.clock() - session.createdAt < MAX_SIGN_IN_AGE_MS;
}

/** Requires a recent sign-in or the password, before an irreversible action; returns an error sentence. */
export async function reauthenticate(
  exchange: PageExchange,
  visitor: Visitor,
  given: string,
): Promise<string | undefined> {
  if (isFresh(exchange, visitor)) return undefined;
  if (visitor.person.password !== null) return checkOwnPassword(exchange, visitor, given);
  return 'You signed in more than 15 minutes ago and have no password. Set one under "Your account".';
}

/** Password field for {@link reauthenticate}; undefined after a recent sign-in. */
export function reauthenticationField(exchange: PageExchange, visitor: Visitor, formState: FormState): HtmlPart {
  const { email, password } = visitor.person;
  if (isFresh(exchange, visitor) || password === null) return undefined;
  const own = { name: 'password', label: 'Your password', type: 'password', autocomplete: 'current-password' } as const;
  return [usernameField(email), field({ ...own, hint: 'You signed in more than 15 minutes ago.' }, formState)];
}
