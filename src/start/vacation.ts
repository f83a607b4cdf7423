import { VacationResponder } from '../../mail/jobs/vacation-responder.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import type { World } from '../operations/world.ts';
import { senderOf } from '../sending/allowance.ts';
import { Tenants } from '../sending/tenants.ts';
import type { Inside } from './inside.ts';

/** Answers for people who are away. */
export function openVacation(
  { settings, store, forwardKey, queue, hold, clock, log }: Inside,
  { policy }: World,
): VacationResponder {
  const tenants = new Tenants(store);
  return new VacationResponder({
    store,
    hostname: settings.hostname,
    clock,
    log,
    forwardKey,
    hold,
    senderOf: (account) => senderOf({ store, tenants }, settings, account),
    policy,
    traceId,
    queued: () => queue.changed(),
  });
}
