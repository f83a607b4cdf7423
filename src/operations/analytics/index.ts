import type { Operation } from '../../core/operation.ts';
import { getEmailStats } from './email-stats.ts';

import { getServerHistory } from './server-history.ts';

export const ANALYTICS: readonly Operation[] = [getEmailStats, getServerHistory];
