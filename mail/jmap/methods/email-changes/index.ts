import type { Method } from '../../method.ts';

export const EMAIL_CHANGES_METHODS: readonly Method[] = [];
