import type { Operation } from '../operation.ts';
import { getEmailStats } from './email-stats.ts';

export const ANALYTICS: readonly Operation[] = [getEmailStats];
