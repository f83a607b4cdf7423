import { LONGEST_LEVEL } from '../message/mailbox-level.ts';
import { DEEPEST } from '../store/mailbox.ts';
import { CORE, MAIL } from './capabilities.ts';
import type { JmapLimits } from './limits.ts';
import type { Access } from './method.ts';

/** What Email/query can sort by. RFC 8621 4.4.2. */
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

/** What an account can do, by capability, as the session tells it. RFC 8620 2, RFC 8621 1.3. */
export function accountCapabilities(
  access: Access,
  limits: Pick<JmapLimits, 'maxSizeUpload'>,
): Record<string, Record<string, unknown>> {
  return {
    [CORE]: {},
    [MAIL]: {
      maxMailboxesPerEmail: null,
      maxMailboxDepth: DEEPEST,
      maxSizeMailboxName: LONGEST_LEVEL,
      maxSizeAttachmentsPerEmail: limits.maxSizeUpload,
      emailQuerySortOptions: [...EMAIL_SORTS],
      mayCreateTopLevelMailbox: !access.readOnly,
    },
  };
}
