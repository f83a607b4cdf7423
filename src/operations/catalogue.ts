import { ACCOUNTS } from './accounts/index.ts';
import { ANALYTICS } from './analytics/index.ts';
import { AGENT_DECISIONS, AGENTS } from './agents/index.ts';
import { ALIASES } from './aliases/index.ts';
import { CANARY_CARE } from './canaries/index.ts';
import { MESSAGE_UPDATES } from './message-updates/index.ts';
import { CONTACTS } from './contacts/index.ts';
import { DELIVERABILITY } from './deliverability/index.ts';
import { DNS_PROVIDER_OPERATIONS } from './dns-providers/index.ts';
import { DOMAINS } from './domains/index.ts';
import { whoami } from './identity/whoami.ts';
import { LABELS } from './labels/index.ts';
import { createDeviceLink } from './mailboxes/device-link.ts';
import { listFolderShares, shareFolder } from './mailboxes/sharing.ts';
import { MAILBOXES } from './mailboxes/index.ts';
import type { Operation } from '../core/operation.ts';
import { ORGANIZATION } from './organization/index.ts';
import { POLICIES, POLICY_DECISIONS } from './policies/index.ts';
import { QUARANTINE, QUARANTINE_DECISIONS } from './quarantine/index.ts';
import { QUEUE } from './queue/index.ts';
import { READING } from './reading/index.ts';
import { RETENTION } from './retention/index.ts';
import { SENDER_RULES } from './sender-rules/index.ts';
import { SENDING } from './sending/index.ts';
import { SERVICES } from './services/index.ts';
import { searchDocs } from './support/search-docs.ts';
import { COLLABORATION } from './collaboration/index.ts';
import { TRANSFER_CARE, TRANSFERS } from './transfers/index.ts';
import { TRACE } from './trace/index.ts';
import { WAITING } from './waiting/index.ts';
import { WRITING } from './writing/index.ts';

/** All operations, in the order in which they are listed. */
export const CATALOGUE: readonly Operation[] = [
  ...ACCOUNTS,
  whoami,
  ...DOMAINS,
  ...MAILBOXES,
  ...TRANSFERS,
  ...ALIASES,
  ...READING,
  ...MESSAGE_UPDATES,
  ...LABELS,
  ...CONTACTS,
  ...QUARANTINE,
  ...COLLABORATION,
  ...WAITING,
  ...SENDER_RULES,
  ...SENDING,
  ...POLICIES,
  ...WRITING,
  ...AGENTS,
  ...QUEUE,
  ...TRACE,
  ...DELIVERABILITY,
  ...ANALYTICS,
  ...SERVICES,
  ...ORGANIZATION,
  searchDocs,
];

/**
 * Operations for people in the portal and the operator on the command line: not listed as tools, refused to every
 * token.
 */
export const FOR_PEOPLE: readonly Operation[] = [
  ...POLICY_DECISIONS,
  ...AGENT_DECISIONS,
  ...QUARANTINE_DECISIONS,
  ...CANARY_CARE,
  createDeviceLink,
  shareFolder,
  listFolderShares,
  ...TRANSFER_CARE,
  ...RETENTION,
  ...DNS_PROVIDER_OPERATIONS,
];

const byName = new Map([...CATALOGUE, ...FOR_PEOPLE].map((one) => [one.name, one]));

export function findOperation(name: string): Operation | undefined {
  return byName.get(name);
}
