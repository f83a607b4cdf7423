import type { Method } from '../../method.ts';

export const VACATION_METHODS: readonly Method[] = [];
