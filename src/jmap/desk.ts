import { JMAP_LIMITS } from '../../mail/jmap/limits.ts';
import type { JmapDesk, PushDesk } from '../../mail/jmap/method.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { LetterAnswers } from '../digest/letter-answers.ts';
import type { World } from '../operations/world.ts';
import { senderOf } from '../sending/allowance.ts';
import { Tenants } from '../sending/tenants.ts';

/** What the methods of JMAP need, out of the world of this box. */
export function jmapDesk(world: World, push: PushDesk): JmapDesk {
  const { store, secrets, settings, clock, log, metrics, policy, hold, queueChanged } = world;
  const tenants = new Tenants(store);
  return {
    store,
    clock,
    limits: JMAP_LIMITS,
    maxMessageBytes: settings.maxMessageBytes,
    hostname: settings.hostname,
    push,
    log,
    meter: metrics,
    senderOf: (account) => senderOf({ store, tenants }, settings, account),
    policy,
    hold,
    answers: new LetterAnswers({ ...world, queued: queueChanged }),
    forwardKey: secrets.subkey('forwarding'),
    traceId,
    queued: queueChanged,
  };
}
