import type { Operation } from '../operation.ts';

export const DOMAINS: readonly Operation[] = [];
