import type { Operation } from '../../core/operation.ts';
import { createAccountAndClaimLink, createOwnOrganization } from './bootstrap-tools.ts';
import { bootstrap } from './bootstrap.ts';
import { getDeployGateStatus, setPaymentMethod } from './gate.ts';
import { listKeys, registerKey, revokeKey, verifyKey } from './recovery-keys.ts';
import { searchTools } from './search-tools.ts';

export const ACCOUNTS: readonly Operation[] = [
  createAccountAndClaimLink,
  createOwnOrganization,
  bootstrap,
  registerKey,
  verifyKey,
  getDeployGateStatus,
  searchTools,
  setPaymentMethod,
  listKeys,
  revokeKey,
];
