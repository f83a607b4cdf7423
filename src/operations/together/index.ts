import type { Operation } from '../operation.ts';
import { claimMessage } from './claim.ts';

export const TOGETHER: readonly Operation[] = [claimMessage];
