import type { AppContext } from '../core/app-context.ts';
import type { Caller } from '../core/caller.ts';
import { namedSecrets } from '../../mail/agents/canary/outgoing.ts';
import { sendingOf } from '../../mail/agents/gate/gate-input.ts';
import { secretsInWords } from '../../mail/agents/secrets/scan.ts';
import { loadSecretPatterns } from '../../mail/agents/secrets/secret-patterns.ts';
import type { AgentPolicy, AgentSending } from '../../mail/agents/gate/types.ts';
import { agentPoliciesOf } from '../../mail/agents/policy/policies.ts';
import type { PasswordLogin } from './agents.ts';
import { callerPolicy } from './caller-policy.ts';
import { agentLogin, isTainted } from './queries.ts';

const BARRED =
  'needs a person: an agent under a policy, or one that has read mail from outsiders, cannot set a push address';
const EMPTY_MESSAGE = { sender: '', recipients: [], size: 0 };

/**
 * Reason why a token must not set a push URL; undefined: it may. The host name and the path of a URL can carry data outside
 * past the gate.
 */
export async function tokenPushBar(
  context: AppContext,
  caller: Caller,
  accounts: readonly number[],
  url: string,
): Promise<string | undefined> {
  const { organization: tenant = 0, actor: credential } = caller;
  const policies = await context.store.read(agentPoliciesOf, { tenant });
  const about = policies.flatMap((one) => one.accounts).filter((one) => accounts.includes(one));
  const { policy } = await callerPolicy({ store: context.store, caller }, about);
  const verdict = await context.agents.policy({ ...EMPTY_MESSAGE, tenant, account: null, credential });
  return verdict.kind === 'agent' ? pushBar(context, { tenant, agent: verdict.agent, policy, url }) : undefined;
}

/** Same for a password login; a person always may. */
export async function loginPushBar(
  context: AppContext,
  { account, credential: login }: PasswordLogin,
  url: string,
): Promise<string | undefined> {
  const tenant = (await context.store.read(agentLogin, { account, credential: login }))?.tenant ?? 0;
  const verdict = await context.agents.policy({ ...EMPTY_MESSAGE, tenant, account, credential: null, login });
  if (verdict.kind !== 'agent') return undefined;
  return pushBar(context, { tenant, agent: verdict.agent, policy: verdict.agent.policy, url });
}

async function pushBar(
  { store, clock }: AppContext,
  { tenant, agent, policy, url }: { tenant: number; agent: AgentSending; policy: AgentPolicy; url: string },
): Promise<string | undefined> {
  if (agent.watch !== undefined) {
    const found = await secretsInWords([url], await loadSecretPatterns(store, agent.watch, { tenant, now: clock() }));
    const { secrets, stopped } = await namedSecrets(store, agent.watch, found, {
      tenant,
      recipients: [],
      protocol: 'jmap',
    });
    if (stopped) return BARRED;
    if (secrets.length > 0) return `contains a secret (${secrets.join(', ')})`;
  }
  if (policy.rulesWait || policy.sends !== 'anybody' || agent.mode !== 'normal') return BARRED;
  const tainted = agent.attended && (await store.read(isTainted, { ...sendingOf({ tenant }, agent), now: clock() }));
  return tainted ? BARRED : undefined;
}
