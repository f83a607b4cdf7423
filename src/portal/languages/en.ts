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
} as const;
