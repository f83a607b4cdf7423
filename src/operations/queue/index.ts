import type { Operation } from '../operation.ts';
import { listQueueItems } from './list.ts';
import { getQueueItem } from './read.ts';
import { cancelQueueItem, holdQueueItem, releaseQueueItem, retryQueueItem } from './steer.ts';

export const QUEUE: readonly Operation[] = [
  listQueueItems,
  getQueueItem,
  retryQueueItem,
  holdQueueItem,
  releaseQueueItem,
  cancelQueueItem,
];
