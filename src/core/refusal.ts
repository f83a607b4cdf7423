import { UNREADABLE_REASON } from '../../mail/store/blob/unreadable.ts';

/** Error codes of operations, with their HTTP status in REST. */
export const REFUSALS = {
  unauthorized: 401,
  invalid_arguments: 400,
  action_not_allowed: 403,
  out_of_scope: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  already_exists: 409,
  mailboxes_exist: 409,
  forwarder_loop: 409,
  invalid_public_key: 400,
  invalid_signature: 400,
  challenge_expired: 410,
  too_many_attempts: 429,
  domain_not_onboarded: 422,
  domain_not_verified: 422,
  from_domain_not_allowed: 422,
  deploy_gate_closed: 403,
  recipient_blocked: 403,
  secret_in_message: 403,
  approval_required: 423,
  content_quarantined: 423,
  secret_link: 423,
  budget_exceeded: 429,
  idempotency_conflict: 409,
  bearer_required: 401,
  confirmation_required: 409,
  rate_limited: 429,
  too_large: 413,
  unsupported_media_type: 415,
  content_unreadable: 500,
  unavailable: 503,
  internal: 500,
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** Fields of refusals besides `error` and `message`. The listed output of a tool gives these names no other type. */
export const REFUSAL_FIELDS = [
  'address',
  'allowedDomains',
  'allowedMailboxIds',
  'allowedProjectId',
  'allowedServiceId',
  'allowedThreadId',
  'approveUrl',
  'attemptsLeft',
  'blockers',
  'budget',
  'confirm',
  'domain',
  'duplicateOf',
  'grantedActions',
  'issues',
  'kinds',
  'limit',
  'mailboxCount',
  'maxBytes',
  'missing',
  'mode',
  'most',
  'outboxId',
  'path',
  'proposalId',
  'reason',
  'reasons',
  'recipients',
  'requestId',
  'requiredAction',
  'resetsAt',
  'resource',
  'retryAfterSeconds',
  'revision',
  'sample',
  'scope',
  'state',
  'used',
] as const;
export type RefusalFacts = { readonly [field in (typeof REFUSAL_FIELDS)[number]]?: unknown };

/** A refusal: a code, a sentence with the next step, and facts for programs. */
export interface Refusal extends RefusalFacts {
  readonly error: RefusalCode;
  readonly message: string;
}

/** Thrown inside an operation, caught by `perform`; never crosses a thread. */
export class RefusedError extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Refuses an operation. The message says what to do next. */
export function refuse(error: RefusalCode, message: string, fields: RefusalFacts = {}): never {
  throw new RefusedError({ error, message, ...fields });
}

/** The refusal for a message or file whose stored octets cannot be read. */
export const CONTENT_UNREADABLE: Refusal = {
  error: 'content_unreadable',
  message: UNREADABLE_REASON,
};

/** Refuses alike what does not exist and what belongs to another organization, so that nobody learns which. */
export function notFound(resource: string): never {
  return refuse('not_found', `No such ${resource} in this organization.`, { resource });
}
