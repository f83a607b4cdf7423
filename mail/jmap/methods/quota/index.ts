import type { Method } from '../../method.ts';
import { quotaChanges } from './quota-changes.ts';
import { quotaGet } from './quota-get.ts';
import { quotaQueryChanges } from './quota-query-changes.ts';
import { quotaQuery } from './quota-query.ts';

export const QUOTA_METHODS: readonly Method[] = [quotaGet, quotaChanges, quotaQuery, quotaQueryChanges];
