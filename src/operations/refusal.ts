/** Every way in which an operation says no, with the HTTP status that REST gives it. */
export const REFUSALS = {
  unauthorized: 401,
  invalid_arguments: 400,
  action_not_allowed: 403,
  out_of_scope: 403,
  not_found: 404,
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
  unavailable: 503,
  internal: 500,
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** Why something was not done: a code, a sentence with the next step, and facts that programs can use. */
export interface Refusal {
  readonly error: RefusalCode;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** Thrown inside an operation, caught by `perform`; it never crosses a thread. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Ends an operation with a refusal. The message says what to do next. */
export function refuse(error: RefusalCode, message: string, fields: Readonly<Record<string, unknown>> = {}): never {
  throw new Refused({ error, message, ...fields });
}

/** One sentence for what does not exist and for what belongs to another organization: nobody learns which. */
export function notFound(resource: string): never {
  return refuse('not_found', `There is no such ${resource}, or it is not this organization's.`, { resource });
}
