import type { Operation } from '../../core/operation.ts';
import { dropCanary, listCanaries, settleTrips } from './canaries.ts';
import { layOutCanary } from './plant.ts';

/** Decisions for people only. */
export const CANARY_CARE: readonly Operation[] = [listCanaries, layOutCanary, settleTrips, dropCanary];
