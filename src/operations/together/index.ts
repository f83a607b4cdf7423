import type { Operation } from '../operation.ts';
import { claimMessage } from './claim.ts';
import { createNarrowToken } from './narrow.ts';
import { undoChanges } from './undo.ts';

export const TOGETHER: readonly Operation[] = [claimMessage, undoChanges, createNarrowToken];
