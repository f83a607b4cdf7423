import { names } from './es/names.ts';
import { shell } from './es/shell.ts';
import { entrance } from './es/entrance.ts';
import { account } from './es/account.ts';
import { deciding } from './es/deciding.ts';
import { organization } from './es/organization.ts';
import { mailbox } from './es/mailbox.ts';
import { dns } from './es/dns.ts';
import { setup } from './es/setup.ts';
import { access } from './es/access.ts';
import { csv } from './es/csv.ts';
import { services } from './es/services.ts';
import { queue } from './es/queue.ts';
import { programs } from './es/programs.ts';
import { proposals } from './es/proposals.ts';
import { members } from './es/members.ts';
import { suppressions } from './es/suppressions.ts';
import { forwarding } from './es/forwarding.ts';
import { settings } from './es/settings.ts';
import { agents } from './es/agents.ts';
import { policies } from './es/policies.ts';
import { canaries } from './es/canaries.ts';
import { retention } from './es/retention.ts';
import { routes } from './es/routes.ts';
import { imports } from './es/imports.ts';
import { operator } from './es/operator.ts';
import { backups } from './es/backups.ts';
import type { PortalCatalog } from '../message-types.ts';

/** Messages of the portal in Spanish. */
export const portalMessages: PortalCatalog = {
  ...names,
  ...shell,
  ...entrance,
  ...account,
  ...deciding,
  ...organization,
  ...mailbox,
  ...dns,
  ...setup,
  ...access,
  ...csv,
  ...services,
  ...queue,
  ...programs,
  ...proposals,
  ...members,
  ...suppressions,
  ...forwarding,
  ...settings,
  ...agents,
  ...policies,
  ...canaries,
  ...retention,
  ...routes,
  ...imports,
  ...operator,
  ...backups,
};
