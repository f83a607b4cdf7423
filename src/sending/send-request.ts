import type { Submission } from '../../mail/delivery/submission.ts';
import type { SubmissionRejection } from '../../mail/delivery/submission-commit.ts';
import type { RecipientFields } from './outbound.ts';
import type { SentEmail } from './sent-queries.ts';

/** Submission with the fields of its sent record. */
export interface SendRequest {
  mail: Submission;
  /** Public id of the key or token. */
  credential: string;
  messageId: string;
  subject: string;
  tags: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, string | number | boolean>>;
  sha256: string;
  /** Requested recipients that were excluded. */
  leftOut: readonly { address: string; reason: string }[];
  /** Fields of recipients, by address. */
  fields: Readonly<Record<string, RecipientFields>>;
  /** Refused if it would be held for approval. */
  failIfHeld: boolean;
  /** Rows in the sending mailbox: the answered message, the forwarded one, and the draft. */
  answers: number | null;
  forwards: number | null;
  draft: number | null;
}

export type SendOutcome =
  | { kind: 'sent'; sent: SentEmail; queued: boolean }
  | { kind: 'repeated'; sent: SentEmail }
  /** The organization was frozen during the request. */
  | { kind: 'frozen' }
  /** The draft was changed or removed. */
  | { kind: 'draft-changed' }
  /** It requires approval and `failIfHeld` is set. */
  | { kind: 'needs-approval'; reasons: string[] }
  | Exclude<SubmissionRejection, { kind: 'repeated' }>;
