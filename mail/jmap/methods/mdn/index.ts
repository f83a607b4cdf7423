import type { Method } from '../../method.ts';

export const MDN_METHODS: readonly Method[] = [];
