import type { Operation } from '../operation.ts';
import { traceMessage } from './trace.ts';

export const TRACE: readonly Operation[] = [traceMessage];
