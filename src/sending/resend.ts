import { refuse, type RefusalCode } from '../operations/refusal.ts';
import { sendTime } from './send-time.ts';
import type { SentEmail } from './sent-queries.ts';
import type { RecipientState, shownSent } from './sent-shown.ts';

/**
 * Bodies as Resend's client library sends them, turned into ours, so that a program moves here by changing its base URL.
 * What means nothing here is refused by name later, like any unknown field.
 */
export function fromResend(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { scheduled_at: sendAt, attachments, tags, ...rest } = body as Record<string, unknown>;
  return {
    ...withoutNothing(rest),
    ...(sendAt !== undefined && sendAt !== null && { sendAt }),
    ...(Array.isArray(attachments) && { attachments: attachments.map(attachment) }),
    ...(Array.isArray(tags) && { tags: Object.fromEntries(tags.map(tag)) }),
  };
}

/** Its library sends null for what was not given. */
function withoutNothing(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function attachment(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const { content_type: contentType, content_id: contentId, ...rest } = given as Record<string, unknown>;
  return withoutNothing({ ...rest, contentType, contentId });
}

function tag(given: unknown): [string, unknown] {
  const { name, value } = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  return [String(name), value];
}

/** The new time of a message, ms UTC; what is past is now. */
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

/** How its library reads a message. What was sent is not kept for reading, so the bodies are null. */
export function resendShown({ messageId, sender, recipients }: SentEmail, shown: ReturnType<typeof shownSent>) {
  return {
    object: 'email',
    id: shown.id,
    message_id: messageId,
    from: sender,
    to: recipients.map((one) => one.address),
    cc: null,
    bcc: null,
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
  rate_limited: 'rate_limit_exceeded',
  idempotency_conflict: 'invalid_idempotent_request',
  domain_not_onboarded: 'invalid_from_address',
  domain_not_verified: 'invalid_from_address',
  from_domain_not_allowed: 'restricted_api_key',
  unavailable: 'application_error',
  internal: 'internal_server_error',
};

/** The name by which its library knows an error. */
export function resendError(code: RefusalCode): string {
  return ERRORS[code] ?? 'validation_error';
}
