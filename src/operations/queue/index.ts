import type { Operation } from '../../core/operation.ts';
import { listQueueItems } from './list.ts';
import { steerQueued } from './many.ts';
import { getQueueItem } from './read.ts';
import { setQueueRoute } from './reroute.ts';
import { listRoutes, removeRoute, setRoute } from './routes.ts';
import { cancelQueueItem, holdQueueItem, releaseQueueItem, retryQueueItem } from './steer.ts';

export const QUEUE: readonly Operation[] = [
  listQueueItems,
  getQueueItem,
  retryQueueItem,
  holdQueueItem,
  releaseQueueItem,
  cancelQueueItem,
  setQueueRoute,
  steerQueued,
  setRoute,
  listRoutes,
  removeRoute,
];
