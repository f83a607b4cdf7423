import { addDomain, domains } from './domain-operations.ts';
import { addMailbox, mailboxes, mailboxPassword } from './mailbox-operations.ts';
import type { Operation } from './operation.ts';
import { cancelQueue, queue, releaseQueue, retryQueue, trace } from './queue-operations.ts';
import { status } from './status.ts';

/** Everything that the local operator can do. */
export const OPERATIONS: readonly Operation<unknown, unknown>[] = [
  status,
  addDomain,
  domains,
  addMailbox,
  mailboxes,
  mailboxPassword,
  queue,
  retryQueue,
  releaseQueue,
  cancelQueue,
  trace,
];

/** By name, for a door that was given one. */
export function findOperation(name: string): Operation<unknown, unknown> | undefined {
  return OPERATIONS.find((one) => one.name === name);
}
