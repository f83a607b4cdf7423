import type { Command } from '../../mail/store/engine/types.ts';

/** What this area writes. */
export const BOOTSTRAP: readonly Command<never, unknown>[] = [];
