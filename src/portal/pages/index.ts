import type { Page } from '../page.ts';
import { agents } from './agents.ts';
import { apiKeys } from './api-keys.ts';
import { audit } from './audit.ts';
import { bans } from './bans.ts';
import { canaries } from './canaries.ts';
import { domain } from './domain.ts';
import { domains } from './domains.ts';
import { forwarders } from './forwarders.ts';
import { mailbox } from './mailbox.ts';
import { mailboxes } from './mailboxes.ts';
import { members } from './members.ts';
import { organizations } from './organizations.ts';
import { overview } from './overview.ts';
import { policies } from './policies.ts';
import { proposals } from './proposals.ts';
import { queue } from './queue.ts';
import { routes } from './routes.ts';
import { service } from './service.ts';
import { queuedMail } from './queued-mail.ts';
import { services } from './services.ts';
import { settings } from './settings.ts';
import { suppressions } from './suppressions.ts';
import { tokens } from './tokens.ts';
import { trace } from './trace.ts';
import { waiting } from './waiting.ts';
import { waitingMail } from './waiting-mail.ts';
import { webhook } from './webhook.ts';
import { webhooks } from './webhooks.ts';
import { withheld } from './withheld.ts';

/** The pages of an organization, in the order of the menu. */
export const PAGES: readonly Page[] = [
  overview,
  domains,
  domain,
  mailboxes,
  mailbox,
  withheld,
  canaries,
  forwarders,
  waiting,
  waitingMail,
  queue,
  queuedMail,
  trace,
  suppressions,
  routes,
  tokens,
  agents,
  policies,
  proposals,
  apiKeys,
  webhooks,
  webhook,
  services,
  service,
  members,
  audit,
  settings,
  organizations,
  bans,
];
