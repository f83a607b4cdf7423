import { publicId } from '../ids.ts';
import type { Caller } from '../operations/caller.ts';
import type { World } from '../operations/world.ts';
import { ALL_ACTIONS, granted } from '../tokens/token.ts';
import { memberMailboxes } from './member-commands.ts';
import type { Membership, Person } from './session-commands.ts';

/**
 * A person as operations know callers. Owners and administrators may everything in the organization; members what a
 * token may that is limited to their mailboxes.
 */
export async function userCaller(
  { store }: Pick<World, 'store'>,
  person: Person,
  { organization, role }: Membership,
  ip: string,
): Promise<Caller> {
  const limited = role === 'member';
  return {
    kind: 'user',
    organization,
    actions: granted(limited ? ['read', 'manage'] : ALL_ACTIONS),
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
