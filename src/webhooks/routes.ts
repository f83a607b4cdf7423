import type { FastifyInstance } from 'fastify';
import { partBytes } from '../../mail/message/readable.ts';
import { storedMessage } from '../../mail/store/arrival.ts';
import { veiled } from '../../mail/store/veil.ts';
import { say } from '../http/answers.ts';
import type { World } from '../operations/world.ts';
import { linkHolds } from '../tokens/holds.ts';
import { readAttachmentLink, WHOLE } from './attachment-link.ts';
import { safeName } from './payload.ts';

const ACCOUNT_SPAN = 2 ** 32;

/** `GET /api/email/attachments/{id}`: for whoever was given the link, until its time or its token ends. */
export function webhookRoutes(world: World): (app: FastifyInstance) => void {
  return (app) => {
    app.get<{ Params: { id: string }; Querystring: { expires?: string; by?: string; signature?: string } }>(
      '/api/email/attachments/:id',
      async (request, reply) => {
        const { expires = '', by = '', signature = '' } = request.query;
        const link = { id: request.params.id, expires, by, signature };
        const key = world.secrets.subkey('attachment links');
        const open = readAttachmentLink({ key, now: world.clock() }, link);
        const found = open && (await holds(world, open)) ? await partOf(world, open) : undefined;
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

/** What a token was given ends with it, and with what it may see. */
function holds(world: World, { email, by }: { email: number; by: string }): Promise<boolean> {
  return linkHolds(world, by, Math.floor(email / ACCOUNT_SPAN));
}

async function partOf({ store }: World, { email, path }: { email: number; path: string }) {
  const stored = await store.read(storedMessage, { account: Math.floor(email / ACCOUNT_SPAN), email });
  if (stored === undefined) return undefined;
  const octets = await store.blob(stored.blob, 0, stored.length);
  const blob = stored.veiledFrom === null ? octets : veiled(octets, 0, stored.veiledFrom);
  if (path === WHOLE) return { bytes: blob, name: 'message.eml' };
  const part = stored.parts.find((one) => one.path === path);
  if (part === undefined) return undefined;
  return { bytes: partBytes(blob, part), name: safeName(part.filename, part) };
}
