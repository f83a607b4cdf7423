import type { Operation } from '../operation.ts';
import { listQuarantine } from './list.ts';
import { releaseMessage, requestRelease } from './release.ts';

export const QUARANTINE: readonly Operation[] = [listQuarantine, requestRelease];

/** What only people decide. */
export const QUARANTINE_DECISIONS: readonly Operation[] = [releaseMessage];
