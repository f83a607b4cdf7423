import type { Operation } from '../operation.ts';

export const ACCOUNTS: readonly Operation[] = [];
