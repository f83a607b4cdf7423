import type { Command } from '../../mail/store/engine/types.ts';
import { attachEmail, detachEmail } from './attachment-commands.ts';
import {
  addRevision,
  createProject,
  createService,
  deleteService,
  endDeploy,
  rollBack,
  setControl,
} from './commands.ts';

/** What this area writes. */
export const SERVICES: readonly Command<never, unknown>[] = [
  addRevision,
  attachEmail,
  createProject,
  createService,
  deleteService,
  detachEmail,
  endDeploy,
  rollBack,
  setControl,
];
