import type { Command } from '../../mail/store/engine/types.ts';
import { deleteMailbox, nameMailbox, provisionMailbox } from './commands.ts';

/** What this area writes. */
export const MAILBOXES: readonly Command<never, unknown>[] = [deleteMailbox, nameMailbox, provisionMailbox];
