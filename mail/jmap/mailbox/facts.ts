import { isDeepStrictEqual } from 'node:util';
import { isMailboxLevel, LONGEST_LEVEL } from '../../message/mailbox-level.ts';
import type { MailboxRole } from '../../store/mailbox.ts';
import type { MailboxFacts, PlaceRefusal } from '../../store/mailbox-tree.ts';
import { realId } from '../created.ts';
import { jmapId, jmapRow } from '../ids.ts';
import type { Call } from '../method.ts';
import { done, type Outcome, refused } from '../standard-set.ts';
import { MAILBOX_PROPERTIES, SETTABLE } from './shape.ts';

const ROLES: readonly MailboxRole[] = ['inbox', 'drafts', 'sent', 'junk', 'trash', 'archive'];

/** What properties are when a client says nothing of them, or null. */
export const MAILBOX_DEFAULTS = { parentId: null, role: null, sortOrder: 0, isSubscribed: true };

/** Reads a Mailbox as a client wants it to be. `was`: as it is, whose other properties only the server sets. */
export function readFacts(
  call: Call,
  account: number,
  wanted: Record<string, unknown>,
  was: Record<string, unknown>,
): Outcome<MailboxFacts> {
  const fixed = Object.keys(wanted).filter((name) => !SETTABLE.some((one) => one === name));
  const wrong = fixed.filter((name) => !isDeepStrictEqual(wanted[name], was[name]));
  if (wrong.length > 0) return badProperties(wrong, whyFixed(wrong));
  const { name, parentId, role } = wanted;
  const sortOrder = wanted['sortOrder'] ?? MAILBOX_DEFAULTS.sortOrder;
  const subscribed = wanted['isSubscribed'] ?? MAILBOX_DEFAULTS.isSubscribed;
  const parent = readParent(call, account, parentId ?? null);
  const level = readName(name, parent === 0);
  if (level === undefined) return badProperties(['name'], NAME_RULE);
  if (parent === undefined)
    return badProperties(['parentId'], `There is no mailbox ${String(parentId).slice(0, 100)}.`);
  const known = ROLES.find((one) => one === role);
  if (known === undefined && (role ?? null) !== null) return badProperties(['role'], ROLE_RULE);
  if (typeof sortOrder !== 'number' || !Number.isInteger(sortOrder) || sortOrder < 0 || sortOrder >= 2 ** 31) {
    return badProperties(['sortOrder'], '"sortOrder" is an integer from 0 to 2147483647.');
  }
  if (typeof subscribed !== 'boolean') return badProperties(['isSubscribed'], '"isSubscribed" is true or false.');
  return done({ parent, name: level, role: known ?? null, sortOrder, subscribed });
}

const NAME_RULE = `"name" is a text of at most ${LONGEST_LEVEL} octets of UTF-8 without "/" and control characters.`;
const ROLE_RULE = `"role" is null or one of ${ROLES.join(', ')}.`;

function whyFixed(names: readonly string[]): string {
  const unknown = names.filter((name) => !MAILBOX_PROPERTIES.has(name));
  return unknown.length > 0
    ? 'A Mailbox has no such properties.'
    : 'Only the server sets these properties: leave them out.';
}

/** Undefined: no mailbox can have this name. At the top, `inbox` in any case is the inbox's: RFC 9051 5.1. */
function readName(name: unknown, atTop: boolean): string | undefined {
  if (typeof name !== 'string' || name.length > 4 * LONGEST_LEVEL) return undefined;
  const level = name.normalize('NFC');
  if (!isMailboxLevel(level)) return undefined;
  return atTop && level.toUpperCase() === 'INBOX' ? 'INBOX' : level;
}

/** 0 for the top; undefined: no mailbox can be meant. Whether it exists is decided in the commit. */
function readParent(call: Call, account: number, parent: unknown): number | undefined {
  if (parent === null) return 0;
  if (typeof parent !== 'string') return undefined;
  const id = realId(call, parent);
  return id === undefined ? undefined : jmapRow('mailbox', account, id);
}

export function badProperties(properties: readonly string[], description: string): Outcome<never> {
  return refused('invalidProperties', description, { properties });
}

/** What a client is told when the tree has no room for what it wants. */
export function toRefusal(refusal: PlaceRefusal): Outcome<never> {
  switch (refusal.kind) {
    case 'exists':
      return refused('alreadyExists', 'The parent has a mailbox of that name: choose another.', {
        existingId: jmapId('mailbox', refusal.id),
        properties: ['name', 'parentId'],
      });
    case 'no-parent':
      return badProperties(['parentId'], 'There is no such parent.');
    case 'inside-itself':
      return badProperties(['parentId'], 'A mailbox cannot be moved into itself.');
    case 'too-deep':
      return badProperties(
        ['parentId', 'name'],
        'There would be too many levels, or the whole name would be too long.',
      );
    case 'role-taken':
      return badProperties(['role'], 'Another mailbox has this role: take it away there first.');
    case 'too-many':
      return refused('overQuota', 'The account has as many mailboxes as it may have: destroy some first.');
  }
}
