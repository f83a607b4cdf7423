import type { Operation } from '../operation.ts';
import { listQueueItems } from './list.ts';
import { cancelQueueItem, holdQueueItem, releaseQueueItem, retryQueueItem } from './steer.ts';

export const QUEUE: readonly Operation[] = [
  listQueueItems,
  retryQueueItem,
  holdQueueItem,
  releaseQueueItem,
  cancelQueueItem,
];
