import type { Address } from '../message/address.ts';
import type { Allowance } from '../store/limit/allowance.ts';
import type { Budget } from '../store/limit/budget.ts';
import type { IdempotencyGuard } from '../store/queue/idempotency.ts';
import type { Identity } from './identity.ts';
import type { SendVerdict } from '../agents/gate/sending-policy.ts';
import type { OutgoingMessage } from './types.ts';

/** Input of the submission commit: plain data, prepared by `submitMessage` from the request of a protocol server. */
export interface Submission extends OutgoingMessage {
  /** All authors that the header names: From, Sender and their Resent forms. */
  authors: readonly Address[];
  as: Identity;
  /** Rejects recipients on the suppression list. */
  skipsSuppressed: boolean;
  /** Allowance of an unclaimed organization; null: none. */
  allowance: Allowance | null;
  budgets: readonly Budget[];
  /** Duplicate check; null: none (SMTP, JMAP). */
  guard: IdempotencyGuard | null;
  verdict: SendVerdict;
  /** ms UTC; null: now. */
  sendAt: number | null;
  /** Hex digest of the octets; needed for mail of agents whose octets are in a file. */
  sha256?: string;
}
