import type { Operation } from '../../core/operation.ts';
import { getEmailStats } from './email-stats.ts';

export const ANALYTICS: readonly Operation[] = [getEmailStats];
