import type { Operation } from '../../core/operation.ts';
import { claimMessage } from './claim.ts';
import { createNarrowToken } from './narrow.ts';
import { undoChanges } from './undo.ts';

export const COLLABORATION: readonly Operation[] = [claimMessage, undoChanges, createNarrowToken];
