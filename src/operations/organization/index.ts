import { getHealth, runDoctor } from '../operator/doctor.ts';
import { getBackups, runBackup } from '../operator/backups.ts';
import { applianceStatus } from '../operator/status.ts';
import { tlsStatus, listTlsResults } from '../operator/tls-results.ts';
import type { Operation } from '../../core/operation.ts';
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
import { getOrganization, updateOrganization, getUsage, listProjects, makeProject } from './organization.ts';
import { removeWholeOrganization, restoreRemovedOrganization } from './removal.ts';
import { getSignInPolicy, setSignInPolicy } from './sign-in-policy.ts';
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
  getSignInPolicy,
  setSignInPolicy,
  listAgentTokens,
  createAgentToken,
  revokeAgentToken,
  listAuditEvents,
  applianceStatus,
  runDoctor,
  getHealth,
  getBackups,
  runBackup,
  tlsStatus,
  listTlsResults,
  listOrganizations,
  freeze,
  unfreeze,
  removeWholeOrganization,
  restoreRemovedOrganization,
  listBansOfBox,
  removeBanOfBox,
];
