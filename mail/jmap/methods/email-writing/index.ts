import type { Method } from '../../method.ts';

export const EMAIL_WRITING_METHODS: readonly Method[] = [];
