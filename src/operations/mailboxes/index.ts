import type { Operation } from '../../core/operation.ts';
import { createAppPassword, listAppPasswordsOf, revokeAppPassword } from './app-passwords.ts';
import { revealEmailCredentials, rotateEmailCredentials } from './credentials.ts';
import { deleteEmail } from './delete.ts';
import { listDeletedEmails, restoreEmail } from './restore.ts';
import { listEmails } from './list.ts';
import { updateEmail } from './update.ts';
import { provisionEmail } from './provision.ts';

export const MAILBOXES: readonly Operation[] = [
  provisionEmail,
  listEmails,
  updateEmail,
  revealEmailCredentials,
  rotateEmailCredentials,
  deleteEmail,
  listDeletedEmails,
  restoreEmail,
  createAppPassword,
  listAppPasswordsOf,
  revokeAppPassword,
];
