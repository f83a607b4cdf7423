import type { Operation } from '../../core/operation.ts';
import { listCertificates, renewCertificate } from './certificates.ts';
import { addBoxDomain, boxDomains } from './domains.ts';
import { addBoxMailbox, boxMailboxes, boxMailboxPassword } from './mailboxes.ts';
import { exportOrganizationStep } from './organization-export.ts';
import { releaseOutboxItem } from './outbox.ts';
import { cancelQueue, holdQueue, queue, releaseQueue, rerouteQueue, retryQueue, trace } from './queue.ts';
import { restoreMailboxStep } from './restore.ts';
import { resetSecondFactor } from './second-factor.ts';
import { boxServices, setServiceControl } from './services.ts';
import { createClaimLink } from './claim-link.ts';
import { createSignInLink } from './sign-in.ts';
import { status } from './status.ts';
import { exportBoxMailbox, getBoxExport, getBoxImport, importFiles, importImap, undeleteBoxMail } from './transfers.ts';

/** Operations of the operator's socket, besides the catalogue. */
export const BOX_OPERATIONS: readonly Operation[] = [
  status,
  listCertificates,
  renewCertificate,
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
  createClaimLink,
  createSignInLink,
  resetSecondFactor,
  importFiles,
  importImap,
  getBoxImport,
  exportBoxMailbox,
  getBoxExport,
  exportOrganizationStep,
  undeleteBoxMail,
  restoreMailboxStep,
];

/** Finds an operation of the operator's socket by name. */
export function findBoxOperation(name: string): Operation | undefined {
  return BOX_OPERATIONS.find((one) => one.name === name);
}
