import { blobCopy, blobUpload } from './blob/blob-upload.ts';
import { blobGet } from './blob/blob-get.ts';
import { blobLookup } from './blob/blob-lookup.ts';
import { CORE } from './core/capabilities.ts';
import type { JmapMethod } from './core/method.ts';
import { emailQuery, emailQueryChanges } from './email-query/email-query.ts';
import { searchSnippetGet } from './email-query/search-snippet-get.ts';
import { emailCopy } from './email-set/email-copy.ts';
import { emailImport } from './email-set/email-import.ts';
import { emailSet } from './email-set/email-set.ts';
import { emailChangesMethod } from './email/email-changes.ts';
import { emailGet } from './email/email-get.ts';
import { emailParse } from './email/email-parse.ts';
import { identityChangesMethod, identityGet, identitySet } from './identity/identity.ts';
import { mailboxChangesMethod, mailboxGet } from './mailbox/mailbox.ts';
import { mailboxQuery, mailboxQueryChanges } from './mailbox/mailbox-query.ts';
import { mailboxSet } from './mailbox/mailbox-set.ts';
import { mdnParse } from './mdn/mdn-parse.ts';
import { mdnSend } from './mdn/mdn-submission.ts';
import { pushSubscriptionGet, pushSubscriptionSet } from './push/push-subscription.ts';
import { quotaChanges, quotaGet, quotaQuery, quotaQueryChanges } from './quota/quota.ts';
import {
  submissionChangesMethod,
  submissionGet,
  submissionQuery,
  submissionQueryChanges,
} from './submission/email-submission.ts';
import { submissionSet } from './submission/submission-set.ts';
import { threadChangesMethod, threadGet } from './thread/thread.ts';
import { vacationGet, vacationSet } from './vacation/vacation.ts';

/** Core/echo: returns its arguments. RFC 8620 4. */
const coreEcho: JmapMethod = {
  name: 'Core/echo',
  capability: CORE,
  run: (_call, args) => Promise.resolve(args),
};

/** Every method, in the order of the RFCs. */
export const METHODS: readonly JmapMethod[] = [
  coreEcho,
  pushSubscriptionGet,
  pushSubscriptionSet,
  mailboxGet,
  mailboxChangesMethod,
  mailboxQuery,
  mailboxQueryChanges,
  mailboxSet,
  threadGet,
  threadChangesMethod,
  emailGet,
  emailParse,
  emailChangesMethod,
  emailQuery,
  emailQueryChanges,
  searchSnippetGet,
  emailSet,
  emailCopy,
  emailImport,
  identityGet,
  identityChangesMethod,
  identitySet,
  submissionGet,
  submissionChangesMethod,
  submissionQuery,
  submissionQueryChanges,
  submissionSet,
  vacationGet,
  vacationSet,
  blobCopy,
  blobUpload,
  blobGet,
  blobLookup,
  quotaGet,
  quotaChanges,
  quotaQuery,
  quotaQueryChanges,
  mdnSend,
  mdnParse,
];
