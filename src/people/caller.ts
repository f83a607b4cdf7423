import { publicId } from '../core/ids.ts';
import type { Caller } from '../core/caller.ts';
import type { AppContext } from '../core/app-context.ts';
import { ALL_ACTIONS, expandActions } from '../core/token.ts';
import { memberMailboxes } from './member-commands.ts';
import type { Membership, Person } from './session-commands.ts';

/**
 * Converts a person to a caller of operations. Owners and administrators may do everything in the organization; members have
 * the rights of a token that is limited to their mailboxes.
 */
export async function userCaller(
  { store }: Pick<AppContext, 'store'>,
  person: Person,
  { organization, role }: Membership,
  ip: string,
): Promise<Caller> {
  const limited = role === 'member';
  return {
    kind: 'user',
    organization,
    actions: expandActions(limited ? ['read', 'manage'] : ALL_ACTIONS),
    project: null,
    service: null,
    mailboxes: limited ? await store.read(memberMailboxes, { organization, user: person.id }) : null,
    actor: publicId('user', person.id),
    actorName: person.email,
    way: 'portal',
    ip,
    user: { id: person.id, role },
  };
}
