import { mailParts } from '../mail/parts.ts';
import type { ThreadParts } from '../mail/store/engine/thread.ts';

/** Commands, queries and migrations of the engine and of the appliance's areas. */
export function storeParts(): ThreadParts {
  return mailParts();
}
