import type { Method } from '../../method.ts';

export const MAILBOX_METHODS: readonly Method[] = [];
