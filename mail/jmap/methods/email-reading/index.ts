import type { Method } from '../../method.ts';

export const EMAIL_READING_METHODS: readonly Method[] = [];
