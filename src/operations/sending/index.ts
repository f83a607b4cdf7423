import type { Operation } from '../operation.ts';

export const SENDING: readonly Operation[] = [];
