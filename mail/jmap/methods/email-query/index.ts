import type { Method } from '../../method.ts';

export const EMAIL_QUERY_METHODS: readonly Method[] = [];
