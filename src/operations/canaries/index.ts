import type { Operation } from '../operation.ts';
import { dropCanary, listCanaries, settleTrips } from './canaries.ts';
import { layOutCanary } from './plant.ts';

/** What only people do. */
export const CANARY_CARE: readonly Operation[] = [listCanaries, layOutCanary, settleTrips, dropCanary];
