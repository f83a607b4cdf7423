import type { Operation } from '../../core/operation.ts';
import { listQuarantine } from './list.ts';
import { releaseMessage, requestMessageRelease } from './release.ts';

export const QUARANTINE: readonly Operation[] = [listQuarantine, requestMessageRelease];

/** Decisions for people only. */
export const QUARANTINE_DECISIONS: readonly Operation[] = [releaseMessage];
