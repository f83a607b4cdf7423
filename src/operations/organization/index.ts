import type { Operation } from '../operation.ts';
import { listAuditEvents } from './audit.ts';
import { freeze, listOrganizations, unfreeze } from './box.ts';
import {
  inviteOrganizationMember,
  listOrganizationMembers,
  removeOrganizationMember,
  resendClaimLink,
  updateOrganizationMember,
} from './members.ts';
import { getOrganization, updateOrganization } from './organization.ts';
import { listProjects, makeProject } from './projects.ts';
import { createAgentToken, listAgentTokens, revokeAgentToken } from './tokens.ts';

export const ORGANIZATION: readonly Operation[] = [
  getOrganization,
  updateOrganization,
  listProjects,
  makeProject,
  listOrganizationMembers,
  inviteOrganizationMember,
  updateOrganizationMember,
  removeOrganizationMember,
  resendClaimLink,
  listAgentTokens,
  createAgentToken,
  revokeAgentToken,
  listAuditEvents,
  listOrganizations,
  freeze,
  unfreeze,
];
