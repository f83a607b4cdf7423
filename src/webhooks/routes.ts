import type { FastifyInstance } from 'fastify';
import { partBytes } from '../../mail/message/readable.ts';
import { storedMessage } from '../../mail/store/arrival.ts';
import { say } from '../http/answers.ts';
import type { World } from '../operations/world.ts';
import { readAttachmentLink, WHOLE } from './attachment-link.ts';
import { safeName } from './payload.ts';

const ACCOUNT_SPAN = 2 ** 32;

/** `GET /api/email/attachments/{id}`: for whoever was given the link, for a day. */
export function webhookRoutes(world: World): (app: FastifyInstance) => void {
  return (app) => {
    app.get<{ Params: { id: string }; Querystring: { expires?: string; signature?: string } }>(
      '/api/email/attachments/:id',
      async (request, reply) => {
        const { expires = '', signature = '' } = request.query;
        const link = { id: request.params.id, expires, signature };
        const key = world.secrets.subkey('attachment links');
        const open = readAttachmentLink({ key, now: world.clock() }, link);
        const found = open && (await partOf(world, open));
        if (found === undefined) {
          return say(reply, { error: 'not_found', message: 'This link is not good, or not any more.' });
        }
        return reply
          .header('content-disposition', `attachment; filename*=utf-8''${encodeURIComponent(found.name)}`)
          .header('x-content-type-options', 'nosniff')
          .header('content-security-policy', "default-src 'none'; sandbox")
          .header('cache-control', 'private, no-store')
          .type('application/octet-stream')
          .send(found.bytes);
      },
    );
  };
}

async function partOf({ store }: World, { email, path }: { email: number; path: string }) {
  const stored = await store.read(storedMessage, { account: Math.floor(email / ACCOUNT_SPAN), email });
  if (stored === undefined) return undefined;
  const blob = await store.blob(stored.blob, 0, stored.length);
  if (path === WHOLE) return { bytes: blob, name: 'message.eml' };
  const part = stored.parts.find((one) => one.path === path);
  if (part === undefined) return undefined;
  return { bytes: partBytes(blob, part), name: safeName(part.filename, part) };
}
