import { createHash } from 'node:crypto';

const EXCERPT = 1_000;
/** Of `email.inbound`: what may be shown to who may not read the mail. */
const PLAIN_FIELDS = new Set(['messageId', 'receivedAt']);

/**
 * How a request is remembered: its line, size and hash, and the beginning of its body. Of mail that arrived only the
 * shape is kept: the history outlives the message, and is shown to who may not read it.
 */
export function requestExcerpt(url: URL, event: string, body: Uint8Array): string {
  const hash = createHash('sha256').update(body).digest('hex');
  const head = `POST ${url.pathname} ${body.byteLength} octets, sha256 ${hash}`;
  // Large bodies are mail in any case; parsing them again would hold up everybody else.
  const shown = event === 'received' ? inboundShape(body) : Buffer.from(body).toString('utf8');
  return `${head}\n${shown}`.slice(0, EXCERPT).toWellFormed();
}

function inboundShape(body: Uint8Array): string {
  if (body.byteLength > 64 * 1024) return '(a large message)';
  const { message, ...rest } = JSON.parse(Buffer.from(body).toString('utf8')) as {
    message: Record<string, string | readonly unknown[]>;
  };
  const shape = Object.entries(message).map(([name, value]) => [
    name,
    PLAIN_FIELDS.has(name) ? value : Array.isArray(value) ? `(${value.length})` : `(${value.length} characters)`,
  ]);
  return JSON.stringify({ ...rest, message: Object.fromEntries(shape) as object });
}
