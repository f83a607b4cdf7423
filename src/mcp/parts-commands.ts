import type { Command } from '../../mail/store/engine/types.ts';
import { bindSession, endSession } from './session-commands.ts';

/** What this area writes. */
export const MCP: readonly Command<never, unknown>[] = [bindSession, endSession];
