import type { MessageIndex } from '../../message/index-types.ts';
import type { Reason } from '../gate/types.ts';

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'withdrawn';

/** A message of an agent that needs approval. */
export interface ApprovalRequest {
  /** Row of its submission, which is already held. */
  submission: number;
  tenant: number;
  /** Null: no mailbox sends it. */
  account: number | null;
  trace: string;
  /** Public id of the token that sends, or of the mailbox whose password was used. */
  credential: string;
  /** The envelope. */
  sender: string;
  recipients: readonly string[];
  reasons: readonly Reason[];
  /** SHA-256 of the octets that leave, hex. */
  sha256: string;
  /** ms UTC; null: at once. */
  sendAt: number | null;
  index: MessageIndex;
}

export interface ApprovalRow extends Record<string, string | number | null> {
  id: number;
  tenant: number;
  account_id: number | null;
  trace: string;
  sha256: string;
  seal: string;
  email_id: number | null;
  state: ApprovalState;
  expires_at: number;
}

export const APPROVAL = `id, tenant, account_id, trace, sha256, seal, email_id, state, expires_at`;
