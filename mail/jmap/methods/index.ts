import type { Method } from '../method.ts';
import { BLOB_METHODS } from './blob/index.ts';
import { coreEcho } from './core/echo.ts';
import { EMAIL_CHANGES_METHODS } from './email-changes/index.ts';
import { EMAIL_QUERY_METHODS } from './email-query/index.ts';
import { EMAIL_READING_METHODS } from './email-reading/index.ts';
import { EMAIL_WRITING_METHODS } from './email-writing/index.ts';
import { IDENTITY_METHODS } from './identity/index.ts';
import { MAILBOX_METHODS } from './mailbox/index.ts';
import { MDN_METHODS } from './mdn/index.ts';
import { PUSH_METHODS } from './push/index.ts';
import { QUOTA_METHODS } from './quota/index.ts';
import { SUBMISSION_METHODS } from './submission/index.ts';
import { THREAD_METHODS } from './thread/index.ts';
import { VACATION_METHODS } from './vacation/index.ts';

/** Every method that is understood, in the order of the RFCs. */
export const METHODS: readonly Method[] = [
  coreEcho,
  ...PUSH_METHODS,
  ...MAILBOX_METHODS,
  ...THREAD_METHODS,
  ...EMAIL_READING_METHODS,
  ...EMAIL_CHANGES_METHODS,
  ...EMAIL_QUERY_METHODS,
  ...EMAIL_WRITING_METHODS,
  ...IDENTITY_METHODS,
  ...SUBMISSION_METHODS,
  ...VACATION_METHODS,
  ...BLOB_METHODS,
  ...QUOTA_METHODS,
  ...MDN_METHODS,
];
