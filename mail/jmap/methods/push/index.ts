import type { Method } from '../../method.ts';

export const PUSH_METHODS: readonly Method[] = [];
