import type { Method } from '../../method.ts';
import { threadChangesMethod } from './thread-changes.ts';
import { threadGet } from './thread-get.ts';

export const THREAD_METHODS: readonly Method[] = [threadGet, threadChangesMethod];
