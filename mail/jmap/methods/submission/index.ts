import type { Method } from '../../method.ts';
import { submissionChangesMethod } from './submission-changes.ts';
import { submissionGet } from './submission-get.ts';
import { submissionQueryChanges } from './submission-query-changes.ts';
import { submissionQuery } from './submission-query.ts';
import { submissionSet } from './submission-set.ts';

export const SUBMISSION_METHODS: readonly Method[] = [
  submissionGet,
  submissionChangesMethod,
  submissionQuery,
  submissionQueryChanges,
  submissionSet,
];
