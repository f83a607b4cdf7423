import { JMAP_LIMITS } from '../../mail/jmap/limits.ts';
import type { JmapDesk } from '../../mail/jmap/method.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import type { World } from '../operations/world.ts';
import { senderOf } from '../sending/allowance.ts';

/** What the methods of JMAP need, out of the world of this box. */
export function jmapDesk({
  store,
  secrets,
  settings,
  clock,
  log,
  metrics,
  policy,
  hold,
  queueChanged,
}: World): JmapDesk {
  return {
    store,
    clock,
    limits: JMAP_LIMITS,
    maxMessageBytes: settings.maxMessageBytes,
    hostname: settings.hostname,
    log,
    meter: metrics,
    senderOf: (account) => senderOf(store, settings, account),
    policy,
    hold,
    forwardKey: secrets.subkey('forwarding'),
    traceId,
    queued: queueChanged,
  };
}
