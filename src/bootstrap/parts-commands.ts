import type { Command } from '../../mail/store/engine/types.ts';
import {
  completeRecovery,
  registerRecoveryKey,
  revokeRecoveryKey,
  startRecovery,
  verifyRecoveryKey,
} from '../recovery/commands.ts';
import { bootstrapOrganization, resendClaim } from './commands.ts';

/** What this area writes. */
export const BOOTSTRAP: readonly Command<never, unknown>[] = [
  bootstrapOrganization,
  completeRecovery,
  registerRecoveryKey,
  resendClaim,
  revokeRecoveryKey,
  startRecovery,
  verifyRecoveryKey,
];
