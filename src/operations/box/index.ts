import type { Operation } from '../operation.ts';
import { addBoxDomain, boxDomains } from './domains.ts';
import { addBoxMailbox, boxMailboxes, boxMailboxPassword } from './mailboxes.ts';
import { releaseOutboxItem } from './outbox.ts';
import { cancelQueue, holdQueue, queue, releaseQueue, rerouteQueue, retryQueue, trace } from './queue.ts';
import { boxServices, setServiceControl } from './services.ts';
import { createSignInLink } from './sign-in.ts';
import { status } from './status.ts';

/** What only the operator's socket can do, beside everything in the catalogue. */
export const BOX_OPERATIONS: readonly Operation[] = [
  status,
  addBoxDomain,
  boxDomains,
  addBoxMailbox,
  boxMailboxes,
  boxMailboxPassword,
  boxServices,
  setServiceControl,
  queue,
  retryQueue,
  releaseQueue,
  cancelQueue,
  holdQueue,
  rerouteQueue,
  releaseOutboxItem,
  trace,
  createSignInLink,
];

/** By name, for the operator's socket. */
export function findBoxOperation(name: string): Operation | undefined {
  return BOX_OPERATIONS.find((one) => one.name === name);
}
