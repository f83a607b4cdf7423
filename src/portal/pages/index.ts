import type { Page } from '../page.ts';
import { addressImport } from './address-import.ts';
import { agents } from './agents.ts';
import { apiKeys } from './api-keys.ts';
import { audit } from './audit.ts';
import { backups } from './backups.ts';
import { blockedNetworks } from './blocked-networks.ts';
import { canaries } from './canaries.ts';
import { deletedMessages } from './deleted-messages.ts';
import { domainReports } from './domain-reports.ts';
import { serverLog } from './server-log.ts';
import { domain, domains } from './domains.ts';
import { forwarders } from './forwarders.ts';
import { health } from './health.ts';
import { imports } from './imports.ts';
import { junk } from './junk.ts';
import { organizationJunk } from './organization-junk.ts';
import { mailbox } from './mailbox.ts';
import { mailboxAccess } from './mailbox-access.ts';
import { mailboxAddresses } from './mailbox-addresses.ts';
import { mailboxConnections } from './mailbox-integrations.ts';
import { mailboxes } from './mailboxes.ts';
import { members } from './members.ts';
import { organizations } from './organizations.ts';
import { overview } from './overview.ts';
import { agentPolicies } from './agent-policies.ts';
import { proposals } from './proposals.ts';
import { queue, queuedMail } from './queue.ts';
import { retention } from './retention.ts';
import { routes } from './routes.ts';
import { service, services } from './services.ts';
import { setup } from './setup/setup.ts';
import { settings } from './settings.ts';
import { suppressions } from './suppressions.ts';
import { tokens } from './tokens.ts';
import { deliveryLog } from './delivery-log.ts';
import { approvals, approval } from './approvals.ts';
import { webhook, webhooks } from './webhooks.ts';
import { quarantine } from './quarantine.ts';

/** The pages of an organization, in the order of the menu. */
export const PAGES: readonly Page[] = [
  overview,
  setup,
  domains,
  domain,
  domainReports,
  mailboxes,
  addressImport,
  mailbox,
  mailboxAccess,
  mailboxAddresses,
  mailboxConnections,
  junk,
  quarantine,
  canaries,
  deletedMessages,
  organizationJunk,
  imports,
  forwarders,
  approvals,
  approval,
  queue,
  queuedMail,
  deliveryLog,
  suppressions,
  routes,
  tokens,
  agents,
  agentPolicies,
  proposals,
  apiKeys,
  webhooks,
  webhook,
  services,
  service,
  members,
  audit,
  retention,
  settings,
  health,
  serverLog,
  backups,
  organizations,
  blockedNetworks,
];
