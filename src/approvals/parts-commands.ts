import type { Command } from '../../mail/store/engine/types.ts';
import { decideApproval, tellApprovals } from './commands.ts';

/** What this area writes. */
export const APPROVALS: readonly Command<never, unknown>[] = [decideApproval, tellApprovals];
