import { z } from 'zod';
import { markSeenByAgent } from '../../../mail/store/actor.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { attachmentsOf } from '../../services/attachment-commands.ts';
import { environmentOf } from '../../services/environment.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { Id } from '../../core/schemas.ts';
import { serviceOf } from '../scope.ts';

/**
 * Returns a service's environment: `GET /api/services/{id}/env`. Not a tool, because it holds passwords; for the
 * service's own token, or one that may manage, unless an agent policy limits it.
 */
export const getServiceEnvironment = operation({
  name: 'get_service_environment',
  title: 'The environment of a service',
  toolset: 'deploy',
  reach: 'service',
  action: 'read',
  secret: true,
  description: 'Returns the environment of a service with the passwords of attached mailboxes; audited.',
  hints: {},
  input: z.strictObject({ serviceId: Id('service') }),
  output: z.object({ serviceId: z.string(), revision: z.number(), env: z.record(z.string(), z.string()) }),
  async run(call, { serviceId }) {
    const service = await serviceOf(call, serviceId);
    const own = call.caller.service === service.id;
    const attached = (await call.store.read(attachmentsOf, { service: service.id })).map(({ account }) => account);
    if ((await callerPolicy(call, attached)).policy.rulesWait) {
      refuse('action_not_allowed', 'The environment holds passwords: it is refused to tokens under an agent policy.', {
        requiredAction: 'person',
        grantedActions: [...call.caller.actions],
      });
    }
    if (!own && !call.caller.actions.has('manage')) {
      refuse('action_not_allowed', 'This needs a token of this service, or one with the action "manage".', {
        requiredAction: 'manage',
        grantedActions: [...call.caller.actions],
      });
    }
    for (const account of attached) {
      if (call.caller.kind === 'token') await call.store.write(markSeenByAgent, { account });
    }
    const env = await environmentOf(call, service);
    await call.note(serviceId, { revision: service.revision });
    return { serviceId, revision: service.revision, env };
  },
});
