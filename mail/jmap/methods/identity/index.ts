import type { Method } from '../../method.ts';

export const IDENTITY_METHODS: readonly Method[] = [];
