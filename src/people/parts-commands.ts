import type { Command } from '../../mail/store/engine/types.ts';
import { inviteMember, removeMember } from './member-commands.ts';
import { offerOperatorClaim, seedLocalOwner } from './operator-commands.ts';
import { addSignInLink } from './sign-in-commands.ts';

/** What this area writes. */
export const PEOPLE: readonly Command<never, unknown>[] = [
  addSignInLink,
  inviteMember,
  offerOperatorClaim,
  removeMember,
  seedLocalOwner,
];
