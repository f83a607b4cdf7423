import { names } from './en/names.ts';
import { shell } from './en/shell.ts';
import { entrance } from './en/entrance.ts';
import { account } from './en/account.ts';
import { deciding } from './en/deciding.ts';
import { organization } from './en/organization.ts';
import { mailbox } from './en/mailbox.ts';
import { dns } from './en/dns.ts';
import { setup } from './en/setup.ts';
import { access } from './en/access.ts';
import { csv } from './en/csv.ts';
import { services } from './en/services.ts';
import { queue } from './en/queue.ts';
import { programs } from './en/programs.ts';
import { proposals } from './en/proposals.ts';
import { members } from './en/members.ts';
import { suppressions } from './en/suppressions.ts';
import { forwarding } from './en/forwarding.ts';
import { settings } from './en/settings.ts';
import { agents } from './en/agents.ts';
import { policies } from './en/policies.ts';
import { canaries } from './en/canaries.ts';
import { retention } from './en/retention.ts';
import { routes } from './en/routes.ts';
import { imports } from './en/imports.ts';
import { operator } from './en/operator.ts';
import { backups } from './en/backups.ts';

/** Messages of the portal in English. The other languages have the same keys and values. */
export const portalMessages = {
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
} as const;
