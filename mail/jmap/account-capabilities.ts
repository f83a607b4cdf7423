import { LONGEST_LEVEL } from '../message/mailbox-level.ts';
import { DEEPEST } from '../store/mailbox.ts';
import { BLOB, CORE, MAIL, MAILSTEAD, MDN, QUOTA, SUBMISSION, VACATION } from './capabilities.ts';
import { DIGEST_NAMES } from './blob/shown-blob.ts';
import { MOST_SOURCES } from './blob/data-source.ts';
import { LOOKED_UP } from './blob/looked-up.ts';
import { JMAP_LIMITS, maxSizeAttachmentsPerEmail } from './limits.ts';
import type { Access } from './method.ts';
import { submissionCapability } from './submission-capability.ts';
import { MOST_MAILBOXES_PER_EMAIL } from '../store/email-commands.ts';

/** Sorts of Email/query. RFC 8621 4.4.2. */
export const EMAIL_SORTS = [
  'receivedAt',
  'sentAt',
  'size',
  'from',
  'to',
  'subject',
  'hasKeyword',
  'allInThreadHaveKeyword',
  'someInThreadHaveKeyword',
] as const;

/** The capabilities of one account with what they promise. RFC 8621 1.3, 9404 3. */
export function accountCapabilities(access: Access, maxMessageBytes: number): Record<string, object> {
  return {
    [CORE]: {},
    [MAIL]: {
      maxMailboxesPerEmail: MOST_MAILBOXES_PER_EMAIL,
      maxMailboxDepth: DEEPEST,
      maxSizeMailboxName: LONGEST_LEVEL,
      maxSizeAttachmentsPerEmail: maxSizeAttachmentsPerEmail(maxMessageBytes),
      emailQuerySortOptions: EMAIL_SORTS,
      mayCreateTopLevelMailbox: !access.readOnly,
    },
    [SUBMISSION]: submissionCapability(maxMessageBytes),
    [VACATION]: {},
    [BLOB]: {
      maxSizeBlobSet: JMAP_LIMITS.maxSizeUpload,
      maxDataSources: MOST_SOURCES,
      supportedTypeNames: LOOKED_UP,
      supportedDigestAlgorithms: DIGEST_NAMES,
    },
    [QUOTA]: {},
    [MDN]: {},
    [MAILSTEAD]: {},
  };
}

/** What the session advertises beside the core: these need nothing to be said once for all accounts. */
export function serverCapabilities(): Record<string, object> {
  return Object.fromEntries([MAIL, SUBMISSION, VACATION, BLOB, QUOTA, MDN, MAILSTEAD].map((uri) => [uri, {}]));
}
