import { z } from 'zod';
import { markSeenByAgent } from '../../../mail/store/actor.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { attachmentsOf } from '../../services/attachment-commands.ts';
import { type Environment, environmentOf } from '../../services/environment.ts';
import { noteShownSecret } from '../../agents/shown-secrets.ts';
import { type Call, operation } from '../../core/operation.ts';
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
    if (call.caller.kind === 'token') await notePasswords(call, env);
    await call.note(serviceId, { revision: service.revision });
    return { serviceId, revision: service.revision, env };
  },
});

/** Notes the passwords of mailboxes, so that no agent mails them; tokens are known by their form. */
async function notePasswords(call: Call, env: Environment): Promise<void> {
  const named = Object.entries(env).filter(([name]) => /^EMAIL_(?:\w+_)?(?:IMAP|SMTP)_PASSWORD$/.test(name));
  for (const text of new Set(named.map(([, value]) => value))) await noteShownSecret(call, { kind: 'password', text });
}
