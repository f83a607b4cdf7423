import { type Asked, type Visitor } from './door.ts';
import { field, type Filled, whosePassword } from './forms.ts';
import type { Part } from './html.ts';
import { BUSY, tooMany } from './link-page.ts';

const MINUTE_MS = 60_000;
/** Whoever signed in so lately is believed to sit there still. */
const FRESH_MS = 15 * MINUTE_MS;

/** What is wrong with the password that somebody gave as their own. Who never set one has none to give. */
export async function checkOwn(asked: Asked, { person }: Visitor, given: string): Promise<string | undefined> {
  if (person.password === null) return undefined;
  const checked = await asked.desk.check(person.email, given, asked.request.ip);
  switch (checked.kind) {
    case 'right':
      return undefined;
    case 'wrong':
      return 'This is not your present password.';
    case 'throttled':
      return tooMany(checked.retryAfter);
    case 'busy':
      return BUSY;
  }
}

function isFresh({ world }: Asked, { session }: Visitor): boolean {
  return world.clock() - session.createdAt < FRESH_MS;
}

/** Before what cannot be undone: why the person has to prove again who they are; undefined when that was done. */
export async function proveAgain(asked: Asked, visitor: Visitor, given: string): Promise<string | undefined> {
  if (isFresh(asked, visitor)) return undefined;
  if (visitor.person.password !== null) return checkOwn(asked, visitor, given);
  return 'You signed in more than 15 minutes ago and have no password yet: set one under "Your account".';
}

/** The field that {@link proveAgain} needs; nothing after a fresh sign-in. */
export function passwordAgain(asked: Asked, visitor: Visitor, filled: Filled): Part {
  const { email, password } = visitor.person;
  if (isFresh(asked, visitor) || password === null) return undefined;
  const own = { name: 'password', label: 'Your password', type: 'password', autocomplete: 'current-password' } as const;
  return [whosePassword(email), field({ ...own, hint: 'You signed in more than 15 minutes ago.' }, filled)];
}
