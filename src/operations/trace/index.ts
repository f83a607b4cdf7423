import type { Operation } from '../../core/operation.ts';
import { traceMessage } from './trace.ts';

export const TRACE: readonly Operation[] = [traceMessage];
