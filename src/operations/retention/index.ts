import type { Operation } from '../../core/operation.ts';
import { listDeleted, purgeDeleted, restoreDeleted } from './deleted-messages.ts';
import { changeLegalHold, changeRetention, getRetention } from './retention.ts';

export const RETENTION: readonly Operation[] = [
  listDeleted,
  restoreDeleted,
  purgeDeleted,
  getRetention,
  changeRetention,
  changeLegalHold,
];
