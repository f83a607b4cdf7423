import type { Operation } from '../operation.ts';
import { claimMessage } from './claim.ts';
import { undoChanges } from './undo.ts';

export const TOGETHER: readonly Operation[] = [claimMessage, undoChanges];
