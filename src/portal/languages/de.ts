import { names } from './de/names.ts';
import { shell } from './de/shell.ts';
import { entrance } from './de/entrance.ts';
import { account } from './de/account.ts';
import { deciding } from './de/deciding.ts';
import { organization } from './de/organization.ts';
import { mailbox } from './de/mailbox.ts';
import { dns } from './de/dns.ts';
import { setup } from './de/setup.ts';
import { access } from './de/access.ts';
import { csv } from './de/csv.ts';
import { services } from './de/services.ts';
import { queue } from './de/queue.ts';
import { programs } from './de/programs.ts';
import { proposals } from './de/proposals.ts';
import { members } from './de/members.ts';
import { suppressions } from './de/suppressions.ts';
import { forwarding } from './de/forwarding.ts';
import { settings } from './de/settings.ts';
import { agents } from './de/agents.ts';
import { policies } from './de/policies.ts';
import { canaries } from './de/canaries.ts';
import { retention } from './de/retention.ts';
import { routes } from './de/routes.ts';
import { imports } from './de/imports.ts';
import { operator } from './de/operator.ts';
import { backups } from './de/backups.ts';
import type { PortalCatalog } from '../message-types.ts';

/** Messages of the portal in German. */
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
