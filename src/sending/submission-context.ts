import type { AreaContext } from '../core/area-context.ts';
import type { SubmissionContext } from '../../mail/delivery/submission-draft.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { submitterLimits } from './allowance.ts';
import { AccountTenants } from './account-tenants.ts';

type Needed = 'store' | 'secrets' | 'settings' | 'clock' | 'metrics' | 'policy' | 'hold' | 'queueChanged';

/** Builds the submission context from the area context, for every protocol. */
export function submissionContext(world: Pick<AreaContext, Needed>): SubmissionContext {
  const { store, secrets, settings, clock, metrics: meter, policy, hold, queueChanged: queued } = world;
  const tenants = new AccountTenants(store);
  return {
    store,
    hostname: settings.hostname,
    clock,
    forwardKey: secrets.subkey('forwarding'),
    hold,
    policy,
    meter,
    traceId,
    senderOf: (account) => submitterLimits({ store, tenants }, settings, account),
    queued,
  };
}
