import { z } from 'zod';
import { accountsOf } from '../../../mail/store/account/account.ts';
import { type DomainInfo, domainsOf } from '../../../mail/store/address/domain.ts';
import { domainSetup } from '../../domains/setup.ts';
import { publicId } from '../../core/ids.ts';
import { listProjects } from '../../organizations/commands.ts';
import { visibleTo } from '../description.ts';
import { Identity, identify } from '../identity/whoami.ts';
import { type Call, operation, TOOLSETS } from '../../core/operation.ts';
import { allowedAccounts, allowedProjects } from '../scope.ts';
import { gateStatus } from './gate.ts';

const MAX_MAILBOXES = 20;
const REVEAL = 'Get the login of a mailbox: reveal_email_credentials.';

export const bootstrap = operation({
  name: 'bootstrap',
  title: 'Get an overview',
  toolset: 'core',
  core: true,
  reach: 'any',
  action: 'identity',
  description:
    'Returns who the agent is, its projects, domains and first 20 mailboxes, the available toolsets, and the next steps. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    ...Identity,
    projects: z.array(z.object({ id: z.string(), name: z.string() })),
    domains: z.array(z.object({ id: z.string(), domain: z.string(), status: z.enum(['verified', 'unverified']) })),
    mailboxes: z.array(z.object({ id: z.string(), address: z.string() })),
    toolsets: z.array(z.object({ name: z.string(), toolCount: z.number() })),
    nextSteps: z.array(z.string()),
  }),
  async run(call) {
    const { store, tenant } = call;
    const [who, gate, projects, domains, accounts, allowed, inside] = await Promise.all([
      identify(call),
      gateStatus(call),
      store.read(listProjects, { organization: tenant }),
      domainsSeen(call),
      store.read(accountsOf, { tenant }),
      allowedAccounts(call),
      allowedProjects(call),
    ]);
    const mine = accounts.filter((one) => allowed === null || allowed.includes(one.id));
    return {
      ...who,
      projects: projects
        .filter((one) => inside?.includes(one.id) ?? true)
        .map((one) => ({ id: publicId('project', one.id), name: one.name })),
      domains: domains.map(shownDomain),
      mailboxes: mine.slice(0, MAX_MAILBOXES).map((one) => ({ id: publicId('mailbox', one.id), address: one.address })),
      toolsets: await toolsets(call),
      nextSteps: nextSteps(call, {
        gateOpen: gate.open,
        domains: domains.length,
        verified: domains.filter((one) => one.verified).length,
        mailboxes: mine.length,
      }),
    };
  },
});

/** Empty for a token of one service or some mailboxes, which cannot use them. */
async function domainsSeen({ store, tenant, caller }: Call): Promise<DomainInfo[]> {
  if (caller.service !== null || caller.mailboxes !== null) return [];
  const all = await store.read(domainsOf, { tenant });
  if (caller.project === null) return all;
  const setups = await Promise.all(all.map(({ id }) => store.read(domainSetup, { domain: id })));
  return all.filter((_one, i) => setups[i]?.project === caller.project);
}

function shownDomain({ id, name, verified }: { id: number; name: string; verified: boolean }) {
  return {
    id: publicId('domain', id),
    domain: name,
    status: verified ? ('verified' as const) : ('unverified' as const),
  };
}

async function toolsets({ catalogue, caller }: Call) {
  const visible = (await catalogue()).filter((one) => visibleTo(one, caller));
  return TOOLSETS.map((name) => ({
    name,
    toolCount: visible.filter((one) => one.toolset === name || (name === 'core' && one.core === true)).length,
  })).filter((one) => one.toolCount > 0);
}

function nextSteps(
  { caller }: Call,
  {
    gateOpen,
    domains,
    verified,
    mailboxes,
  }: { gateOpen: boolean; domains: number; verified: number; mailboxes: number },
): string[] {
  const steps: string[] = [];
  const narrow = caller.service !== null || caller.mailboxes !== null;
  if (narrow) return mailboxes > 0 ? [REVEAL] : [];
  if (domains === 0) steps.push('Add a domain: add_email_domain.');
  else if (verified === 0)
    steps.push('Publish the DNS records of your domain (get_email_domain), then verify_email_domain.');
  if (domains > 0 && mailboxes === 0) steps.push('Create a mailbox: provision_email.');
  if (mailboxes > 0) steps.push(REVEAL);
  if (!gateOpen) steps.push('Register a recovery key before you deploy: register_recovery_key.');
  return steps;
}
