import type { Operation } from '../operation.ts';
import { listQuarantine } from './list.ts';
import { requestRelease } from './release.ts';

export const QUARANTINE: readonly Operation[] = [listQuarantine, requestRelease];
