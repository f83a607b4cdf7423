import { applianceStatus } from '../box/status.ts';
import { tlsStatus } from '../box/tls.ts';
import { listTlsResults } from '../box/tls-results.ts';
import type { Operation } from '../operation.ts';
import { listAuditEvents } from './audit.ts';
import { listBansOfBox, removeBanOfBox } from './bans.ts';
import { freeze, listOrganizations, unfreeze } from './box.ts';
import {
  inviteOrganizationMember,
  listOrganizationMembers,
  removeOrganizationMember,
  resendClaimLink,
  updateOrganizationMember,
} from './members.ts';
import { getOrganization, updateOrganization } from './organization.ts';
import { getUsage } from './usage.ts';
import { listProjects, makeProject } from './projects.ts';
import { removeWholeOrganization } from './remove.ts';
import { createAgentToken, listAgentTokens, revokeAgentToken } from './tokens.ts';

export const ORGANIZATION: readonly Operation[] = [
  getOrganization,
  updateOrganization,
  getUsage,
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
  applianceStatus,
  tlsStatus,
  listTlsResults,
  listOrganizations,
  freeze,
  unfreeze,
  removeWholeOrganization,
  listBansOfBox,
  removeBanOfBox,
];
