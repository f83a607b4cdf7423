import type { Command } from '../../mail/store/engine/types.ts';
import { tellTrips } from './tell-commands.ts';
import { tripCanaries } from './trip-commands.ts';

/** What this area writes. */
export const CANARIES: readonly Command<never, unknown>[] = [tellTrips, tripCanaries];
