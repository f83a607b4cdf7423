import type { Operation } from '../operation.ts';

export const SERVICES: readonly Operation[] = [];
