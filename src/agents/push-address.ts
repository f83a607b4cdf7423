import { namedSecrets } from '../../mail/delivery/agent/canaries.ts';
import { sendingOf } from '../../mail/delivery/agent/asking.ts';
import { secretsInWords, soughtIn } from '../../mail/delivery/agent/secrets-in-words.ts';
import type { AgentPolicy, AgentSending } from '../../mail/delivery/agent/types.ts';
import { agentPoliciesOf } from '../../mail/store/agent-policy.ts';
import type { Caller } from '../operations/caller.ts';
import type { World } from '../operations/world.ts';
import type { PasswordLogin } from './agents.ts';
import { callerPolicy } from './caller-policy.ts';
import { agentLogin, isExposed } from './queries.ts';

const BARRED = 'is for people here: an agent that is under a policy, or has read mail of outsiders, names no address';
const NOBODY_MORE = { sender: '', recipients: [], size: 0 };

/**
 * Why a token may not have the box post to a push service at a URL of its choice, and look up its host; undefined: it may.
 * What it writes there reaches whom it likes, and nothing of it is mail.
 */
export async function tokenPushBar(
  world: World,
  caller: Caller,
  accounts: readonly number[],
  url: string,
): Promise<string | undefined> {
  const { organization: tenant = 0, actor: credential } = caller;
  const policies = await world.store.read(agentPoliciesOf, { tenant });
  const about = policies.flatMap((one) => one.accounts).filter((one) => accounts.includes(one));
  const { policy } = await callerPolicy({ store: world.store, caller }, about);
  const verdict = await world.agents.policy({ ...NOBODY_MORE, tenant, account: null, credential });
  return verdict.kind === 'agent' ? bar(world, { tenant, agent: verdict.agent, policy, url }) : undefined;
}

/** The same of who logged in with a password; a person may always. */
export async function loginPushBar(
  world: World,
  { account, credential: login }: PasswordLogin,
  url: string,
): Promise<string | undefined> {
  const tenant = (await world.store.read(agentLogin, { account, credential: login }))?.tenant ?? 0;
  const verdict = await world.agents.policy({ ...NOBODY_MORE, tenant, account, credential: null, login });
  if (verdict.kind !== 'agent') return undefined;
  return bar(world, { tenant, agent: verdict.agent, policy: verdict.agent.policy, url });
}

async function bar(
  { store, clock }: World,
  { tenant, agent, policy, url }: { tenant: number; agent: AgentSending; policy: AgentPolicy; url: string },
): Promise<string | undefined> {
  if (agent.watch !== undefined) {
    const found = await secretsInWords([url], await soughtIn(store, agent.watch, { tenant, now: clock() }));
    const { secrets, stopped } = await namedSecrets(store, agent.watch, found, {
      tenant,
      recipients: [],
      door: 'jmap',
    });
    if (stopped) return BARRED;
    if (secrets.length > 0) return `holds what never leaves (${secrets.join(', ')})`;
  }
  if (policy.rulesWait || policy.sends !== 'anybody' || agent.mode !== 'normal') return BARRED;
  const exposed = agent.attended && (await store.read(isExposed, { ...sendingOf({ tenant }, agent), now: clock() }));
  return exposed ? BARRED : undefined;
}
