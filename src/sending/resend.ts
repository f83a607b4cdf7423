import { refuse, REFUSALS, type RefusalCode } from '../core/refusal.ts';
import { sendTime } from './send-time.ts';
import type { SentEmail } from './sent-queries.ts';
import type { RecipientState, serializeSent } from './serialize-sent.ts';

/**
 * Converts a request body of Resend's client library, so that a program migrates by changing its base URL. Unsupported
 * fields are refused by name later, like any unknown field.
 */
export function fromResend(body: unknown, now: number): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { scheduled_at: at, attachments, tags, ...rest } = body as Record<string, unknown>;
  return {
    ...withoutNulls(rest),
    ...(at !== undefined && at !== null && { sendAt: scheduledTime(body, now) }),
    ...(Array.isArray(attachments) && { attachments: attachments.map(attachment) }),
    ...(Array.isArray(tags) && { tags: Object.fromEntries(tags.map(tag)) }),
  };
}

/** Resend's library sends null for missing values. */
function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function attachment(given: unknown, i: number): unknown {
  if (typeof given !== 'object' || given === null) return given;
  if ('path' in given && given.path !== null) {
    const message = 'is not supported: this server fetches no addresses; send content or uploadId';
    refuse('invalid_arguments', `attachments.${i}.path: ${message}.`, {
      issues: [{ path: `attachments.${i}.path`, message }],
    });
  }
  const { content_type: contentType, content_id: contentId, ...rest } = given as Record<string, unknown>;
  return withoutNulls({ ...rest, contentType, contentId });
}

function tag(given: unknown): [string, unknown] {
  const { name, value } = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  return [String(name), value];
}

/** The send time as the own API takes it: the same for a repeated request, also when it has passed. */
function scheduledTime(body: object, now: number): string {
  resendTime(body, now);
  return new Date(String((body as { scheduled_at?: unknown }).scheduled_at)).toISOString();
}

/** Reads the new send time, ms UTC; a past time means now. */
export function resendTime(body: unknown, now: number): number {
  const given = (body as { scheduled_at?: unknown } | null | undefined)?.scheduled_at;
  const time = typeof given === 'string' && !Number.isNaN(Date.parse(given)) ? given : undefined;
  const at = time === undefined || !/^\d{4}-\d{2}-\d{2}T/.test(time) ? undefined : sendTime(time, now);
  if (at !== undefined) return at ?? now;
  const message = 'must be a time such as 2030-01-01T09:00:00Z, at most 30 days ahead';
  return refuse('invalid_arguments', `scheduled_at: ${message}.`, { issues: [{ path: 'scheduled_at', message }] });
}

const EVENTS: Readonly<Record<RecipientState, string>> = {
  scheduled: 'scheduled',
  queued: 'queued',
  held: 'queued',
  delivered: 'delivered',
  deferred: 'delivery_delayed',
  bounced: 'bounced',
  complained: 'complained',
  cancelled: 'canceled',
  suppressed: 'suppressed',
};

const COPIES = ['cc', 'bcc'] as const;

/** Recipients of a field; null: none. */
function copies(recipients: SentEmail['recipients'], name: (typeof COPIES)[number]): string[] | null {
  const found = recipients.filter(({ field }) => field === name).map((one) => one.address);
  return found.length === 0 ? null : found;
}

/** Serializes a message for Resend's library. Bodies are not stored, so they are null. */
export function resendEmail({ messageId, sender, recipients }: SentEmail, shown: ReturnType<typeof serializeSent>) {
  return {
    object: 'email',
    id: shown.id,
    message_id: messageId,
    from: sender,
    to: recipients.filter(({ field }) => field === undefined).map((one) => one.address),
    ...Object.fromEntries(COPIES.map((name) => [name, copies(recipients, name)])),
    reply_to: null,
    subject: shown.subject,
    html: null,
    text: null,
    tags: Object.entries(shown.tags).map(([name, value]) => ({ name, value })),
    created_at: shown.createdAt,
    scheduled_at: shown.scheduledAt,
    last_event: EVENTS[shown.status],
  };
}

const ERRORS: Partial<Readonly<Record<RefusalCode, string>>> = {
  unauthorized: 'invalid_api_key',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  rate_limited: 'rate_limit_exceeded',
  idempotency_conflict: 'invalid_idempotent_request',
  domain_not_onboarded: 'invalid_from_address',
  domain_not_verified: 'invalid_from_address',
  from_domain_not_allowed: 'restricted_api_key',
  unavailable: 'application_error',
  internal: 'internal_server_error',
};

/** Fields of Resend's errors for an error code. */
export function resendFields(code: RefusalCode): { statusCode: number; name: string } {
  return { statusCode: REFUSALS[code], name: ERRORS[code] ?? 'validation_error' };
}
