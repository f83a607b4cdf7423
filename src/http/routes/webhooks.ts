import { networkOf } from '../../../mail/guard/network.ts';
import { redacted } from '../../../mail/agents/quarantine/redact.ts';
import { partBytes } from '../../../mail/message/readable.ts';
import { accountById } from '../../../mail/store/account/account.ts';
import { BlobUnreadable } from '../../../mail/store/blob/unreadable.ts';
import { storedMessage } from '../../../mail/store/blob/stored-message.ts';
import type { AppContext } from '../../core/app-context.ts';
import { CONTENT_UNREADABLE } from '../../core/refusal.ts';
import { sendRefusal } from '../json-replies.ts';
import { isLinkValid } from '../../tokens/token-validity.ts';
import { WHOLE, readAttachmentLink } from '../../webhooks/attachment-link.ts';
import { safeName } from '../../webhooks/payload.ts';
import type { FastifyInstance } from 'fastify';
import { ACCOUNT_SPAN } from '../../../mail/store/search/account-span.ts';

/** `GET /api/email/attachments/{id}`: signed links, valid until they or their token expire. */
export function webhookRoutes(context: AppContext): (app: FastifyInstance) => void {
  return (app) => {
    app.get<{
      Params: { id: string };
      Querystring: { expires?: string; by?: string; bound?: string; signature?: string };
    }>('/api/email/attachments/:id', async (request, reply) => {
      const { expires = '', by = '', bound, signature = '' } = request.query;
      const network = bound === undefined ? '' : networkOf(request.ip);
      const link = { id: request.params.id, expires, by, network, signature };
      const key = context.secrets.subkey('attachment links');
      const open = readAttachmentLink({ key, now: context.clock() }, link);
      const found = open && (await holds(context, open)) ? await partOf(context, open).catch(unreadable) : undefined;
      if (found === 'unreadable') return sendRefusal(reply, CONTENT_UNREADABLE);
      if (found === undefined) {
        return sendRefusal(reply, { error: 'not_found', message: 'Invalid or expired link.' });
      }
      return reply
        .header('content-disposition', `attachment; filename*=utf-8''${encodeURIComponent(found.name)}`)
        .header('x-content-type-options', 'nosniff')
        .header('content-security-policy', "default-src 'none'; sandbox")
        .header('cache-control', 'private, no-store')
        .type('application/octet-stream')
        .send(found.bytes);
    });
  };
}

function unreadable(error: unknown): 'unreadable' {
  if (error instanceof BlobUnreadable) return 'unreadable';
  throw error;
}

/** A link ends with its mailbox, with its token, and with the token's access to the mailbox. */
async function holds(context: AppContext, { email, by }: { email: number; by: string }): Promise<boolean> {
  const account = Math.floor(email / ACCOUNT_SPAN);
  const exists = (await context.store.read(accountById, { account })) !== undefined;
  return exists && isLinkValid(context, by, account);
}

async function partOf({ store }: AppContext, { email, path }: { email: number; path: string }) {
  const stored = await store.read(storedMessage, { account: Math.floor(email / ACCOUNT_SPAN), email });
  if (stored === undefined) return undefined;
  const octets = await store.blob(stored.blob, 0, stored.length);
  const blob = stored.redactedFrom === null ? octets : redacted(octets, 0, stored.redactedFrom);
  if (path === WHOLE) return { bytes: blob, name: 'message.eml' };
  const part = stored.parts.find((one) => one.path === path);
  if (part === undefined) return undefined;
  return { bytes: partBytes(blob, part), name: safeName(part.filename, part) };
}
