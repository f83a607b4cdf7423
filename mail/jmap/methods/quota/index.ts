import type { Method } from '../../method.ts';

export const QUOTA_METHODS: readonly Method[] = [];
