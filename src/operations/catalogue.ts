import { ACCOUNTS } from './accounts/index.ts';
import { ALIASES } from './aliases/index.ts';
import { CHANGING } from './changing/index.ts';
import { CONTACTS } from './contacts/index.ts';
import { DOMAINS } from './domains/index.ts';
import { whoami } from './identity/whoami.ts';
import { LABELS } from './labels/index.ts';
import { MAILBOXES } from './mailboxes/index.ts';
import type { Operation } from './operation.ts';
import { ORGANIZATION } from './organization/index.ts';
import { QUEUE } from './queue/index.ts';
import { READING } from './reading/index.ts';
import { SENDER_RULES } from './sender-rules/index.ts';
import { SENDING } from './sending/index.ts';
import { SERVICES } from './services/index.ts';
import { searchDocs } from './support/search-docs.ts';
import { TRACE } from './trace/index.ts';
import { WAITING } from './waiting/index.ts';

/** Everything that can be done, in the order in which it is listed. */
export const CATALOGUE: readonly Operation[] = [
  ...ACCOUNTS,
  whoami,
  ...DOMAINS,
  ...MAILBOXES,
  ...ALIASES,
  ...READING,
  ...WAITING,
  ...CHANGING,
  ...LABELS,
  ...CONTACTS,
  ...SENDER_RULES,
  ...SENDING,
  ...QUEUE,
  ...TRACE,
  ...SERVICES,
  ...ORGANIZATION,
  searchDocs,
];

const byName = new Map(CATALOGUE.map((one) => [one.name, one]));

export function findOperation(name: string): Operation | undefined {
  return byName.get(name);
}
