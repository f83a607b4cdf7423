import type { Method } from '../../method.ts';

export const BLOB_METHODS: readonly Method[] = [];
