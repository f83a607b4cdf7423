import { command } from '../../mail/store/engine/types.ts';
import { takeHit } from '../core/hits-commands.ts';

/** Octets of a name that is looked up for an agent that has read outsiders' mail. */
export const MAX_LOOKED_UP = 64;
/** Names looked up an hour for the agents of one organization that have read outsiders' mail. */
const MAX_NAMES = 10;
const HOUR_MS = 3_600_000;

/** Counts the first lookup of a name, or returns ms until another one is allowed. */
export const takeNameLookup = command(
  'take-name-lookup',
  (tx, { tenant }: { tenant: number }, stamp): Promise<number> =>
    takeHit(tx, { counter: 'name-lookup', subject: String(tenant), most: MAX_NAMES, windowMs: HOUR_MS }, stamp),
);
