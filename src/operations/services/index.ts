import type { Operation } from '../../core/operation.ts';
import { attachEmailToService, detachEmailFromService } from './attachments.ts';
import { deployService, restartService, rollbackService } from './deploy.ts';
import { listDeployments, readLogs } from './history.ts';
import { listDeletedServices, removeService, restoreServiceOf } from './deletion.ts';
import { listServicesOf, makeService } from './services.ts';

export const SERVICES: readonly Operation[] = [
  attachEmailToService,
  detachEmailFromService,
  listServicesOf,
  makeService,
  deployService,
  restartService,
  readLogs,
  listDeployments,
  rollbackService,
  removeService,
  listDeletedServices,
  restoreServiceOf,
];
