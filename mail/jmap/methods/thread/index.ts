import type { Method } from '../../method.ts';

export const THREAD_METHODS: readonly Method[] = [];
