import { JMAP_LIMITS } from '../../mail/jmap/limits.ts';
import type { JmapDesk, PushDesk } from '../../mail/jmap/method.ts';
import type { World } from '../operations/world.ts';

/** What the methods of JMAP need, out of the world of this box. */
export function jmapDesk({ store, settings, clock, log, metrics }: World, push: PushDesk): JmapDesk {
  return {
    store,
    clock,
    limits: JMAP_LIMITS,
    maxMessageBytes: settings.maxMessageBytes,
    hostname: settings.hostname,
    push,
    log,
    meter: metrics,
  };
}
