import { isDeepStrictEqual } from 'node:util';
import { isMailboxLevel, MAX_LEVEL_OCTETS } from '../../message/mailbox-level.ts';
import type { MailboxFacts, MailboxRefusal } from '../../store/mailbox/mailbox-tree.ts';
import type { MailboxRole } from '../../store/mailbox/mailbox.ts';
import { resolveCreationId } from '../core/access.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { MethodCall } from '../core/method.ts';
import { done, refused, type SetOutcome } from '../standard/standard-set.ts';
import { MAILBOX_PROPERTIES, SETTABLE } from './mailbox.ts';

const ROLES: readonly MailboxRole[] = ['inbox', 'drafts', 'sent', 'junk', 'trash', 'archive'];

/** Defaults of properties that are missing or null. */
export const MAILBOX_DEFAULTS = { parentId: null, role: null, sortOrder: 0, isSubscribed: true };

/** Reads the client's Mailbox properties. `was` is the present object; server-set properties must equal it. */
export function readMailboxProperties(
  call: MethodCall,
  account: number,
  wanted: Record<string, unknown>,
  was: Record<string, unknown>,
): SetOutcome<MailboxFacts> {
  const fixed = Object.keys(wanted).filter((name) => !SETTABLE.some((one) => one === name));
  const wrong = fixed.filter((name) => !isDeepStrictEqual(wanted[name], was[name]));
  if (wrong.length > 0) return badProperties(wrong, whyFixed(wrong));
  const { name, parentId, role } = wanted;
  const sortOrder = wanted['sortOrder'] ?? MAILBOX_DEFAULTS.sortOrder;
  const subscribed = wanted['isSubscribed'] ?? MAILBOX_DEFAULTS.isSubscribed;
  const parent = readParent(call, account, parentId ?? null);
  const level = readName(name, parent === 0);
  if (level === undefined) return badProperties(['name'], NAME_RULE);
  if (parent === undefined) return badProperties(['parentId'], `No mailbox ${String(parentId).slice(0, 100)}.`);
  const known = ROLES.find((one) => one === role);
  if (known === undefined && (role ?? null) !== null) return badProperties(['role'], ROLE_RULE);
  if (typeof sortOrder !== 'number' || !Number.isInteger(sortOrder) || sortOrder < 0 || sortOrder >= 2 ** 31) {
    return badProperties(['sortOrder'], '"sortOrder" must be an integer from 0 to 2147483647.');
  }
  if (typeof subscribed !== 'boolean') return badProperties(['isSubscribed'], '"isSubscribed" must be true or false.');
  return done({ parent, name: level, role: known ?? null, sortOrder, subscribed });
}

const NAME_RULE = `"name" must be a text of at most ${MAX_LEVEL_OCTETS} octets of UTF-8 without "/" and control characters.`;
const ROLE_RULE = `"role" must be null or one of ${ROLES.join(', ')}.`;

function whyFixed(names: readonly string[]): string {
  const unknown = names.filter((name) => !MAILBOX_PROPERTIES.has(name));
  return unknown.length > 0 ? 'Unknown Mailbox properties.' : 'Only the server sets these properties. Leave them out.';
}

/** Reads a name; undefined if invalid. A top-level `inbox` in any case is INBOX: RFC 9051 5.1. */
function readName(name: unknown, atTop: boolean): string | undefined {
  if (typeof name !== 'string' || name.length > 4 * MAX_LEVEL_OCTETS) return undefined;
  const level = name.normalize('NFC');
  if (!isMailboxLevel(level)) return undefined;
  return atTop && level.toUpperCase() === 'INBOX' ? 'INBOX' : level;
}

/** Reads a parent id; 0 for the top level, undefined if invalid. The commit checks that it exists. */
function readParent(call: MethodCall, account: number, parent: unknown): number | undefined {
  if (parent === null) return 0;
  if (typeof parent !== 'string') return undefined;
  const id = resolveCreationId(call, parent);
  return id === undefined ? undefined : jmapRow('mailbox', account, id);
}

function badProperties(properties: readonly string[], description: string): SetOutcome<never> {
  return refused('invalidProperties', description, { properties });
}

/** The SetError for a placement that the mailbox tree refuses. */
export function placementRefusal(refusal: MailboxRefusal): SetOutcome<never> {
  switch (refusal.kind) {
    case 'exists':
      return refused('alreadyExists', 'A mailbox with this name exists already. Choose another name.', {
        existingId: jmapId('mailbox', refusal.id),
        properties: ['name', 'parentId'],
      });
    case 'no-parent':
      return badProperties(['parentId'], 'No such parent mailbox.');
    case 'inside-itself':
      return badProperties(['parentId'], 'A mailbox cannot be moved into itself.');
    case 'too-deep':
      return badProperties(['parentId', 'name'], 'Too many levels, or the full name is too long.');
    case 'role-taken':
      return badProperties(['role'], 'Another mailbox has this role. Remove it there first.');
    case 'too-many':
      return refused('overQuota', 'The account has reached its maximum number of mailboxes. Destroy some first.');
  }
}
