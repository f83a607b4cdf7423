import type { Command } from '../../mail/store/engine/types.ts';

/** What this area writes. */
export const MAILBOXES: readonly Command<never, unknown>[] = [];
