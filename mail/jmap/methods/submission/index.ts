import type { Method } from '../../method.ts';

export const SUBMISSION_METHODS: readonly Method[] = [];
