import type { Operation } from '../operation.ts';

export const MAILBOXES: readonly Operation[] = [];
