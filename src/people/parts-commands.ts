import type { Command } from '../../mail/store/engine/types.ts';
import { claimOrganization } from './claim-commands.ts';
import { joinOrganization } from './invite-commands.ts';
import { inviteMember, removeMember, updateMember } from './member-commands.ts';
import { offerOperatorClaim, seedLocalOwner } from './operator-commands.ts';
import { changePassword, requestReset, resetPassword } from './password-commands.ts';
import { proveAddress, requestProof } from './proof-commands.ts';
import { endSessions, openSession, spendSignIn, touchSession } from './session-commands.ts';
import { addSignInLink } from './sign-in-commands.ts';

/** What this area writes. */
export const PEOPLE: readonly Command<never, unknown>[] = [
  addSignInLink,
  changePassword,
  claimOrganization,
  endSessions,
  inviteMember,
  joinOrganization,
  offerOperatorClaim,
  openSession,
  proveAddress,
  removeMember,
  requestProof,
  requestReset,
  resetPassword,
  seedLocalOwner,
  spendSignIn,
  touchSession,
  updateMember,
];
