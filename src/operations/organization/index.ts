import type { Operation } from '../operation.ts';

export const ORGANIZATION: readonly Operation[] = [];
