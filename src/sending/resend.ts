/**
 * Bodies as Resend's client library sends them, turned into ours, so that a program moves here by changing its base URL.
 * What means nothing here is refused by name later, like any unknown field.
 */
export function fromResend(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { scheduled_at: sendAt, attachments, tags, ...rest } = body as Record<string, unknown>;
  return {
    ...withoutNothing(rest),
    ...(sendAt !== undefined && { sendAt }),
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
