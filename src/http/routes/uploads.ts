import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isRateLimited, sendRefusal } from '../json-replies.ts';
import { refuse } from '../../core/refusal.ts';
import { isLinkValid } from '../../tokens/token-validity.ts';
import type { AppContext } from '../../core/app-context.ts';
import type { ApiSender } from '../../sending/key-auth.ts';
import { withStoredOctets } from '../../sending/stored-octets.ts';
import { refusalOf, withKey } from './send-requests.ts';
import { addUpload, type NewAttachmentUpload } from '../../sending/upload-commands.ts';
import { readUploadTicket } from '../../sending/upload-link.ts';

/** Uploads for `uploadId`: by API key under a chosen name, by agents with a signed link for one file. */
export function uploadRoutes(context: AppContext): (app: FastifyInstance) => Promise<void> {
  const bodyLimit = context.settings.maxMessageBytes;
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.put(
      '/api/email/uploads/:id',
      { bodyLimit },
      withKey(context, (sender, request, reply) => ofKey(context, sender, request, reply)),
    );
    app.put('/api/email/upload-links', { bodyLimit }, (request, reply) => byLink(context, request, reply));
    await Promise.resolve();
  };
}

function ofKey(
  context: AppContext,
  { organization, credential }: ApiSender,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { id: name } = request.params as { id: string };
  if (!/^[\w-]{1,64}$/.test(name)) {
    refuse('invalid_arguments', 'Invalid upload id. Use up to 64 letters, digits, - and _.', {
      issues: [{ path: 'id', message: 'has other characters' }],
    });
  }
  return keep(context, { organization, credential, name }, octetsOf(request), reply);
}

/** Stores the one file that the signed link allows. */
async function byLink(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { ticket } = request.query as { ticket?: unknown };
  if (isRateLimited(context, request, reply)) return reply;
  const place = readUploadTicket(context.secrets.subkey('upload links'), String(ticket), context.clock());
  if (place === undefined || !(await isLinkValid(context, place.credential))) {
    return sendRefusal(reply, { error: 'not_found', message: 'Invalid or expired link. Request a new one.' });
  }
  try {
    const octets = octetsOf(request);
    const { size, sha256, expires: _expires, ...row } = place;
    if (octets.length !== size || hash('sha256', octets) !== sha256) {
      refuse('invalid_arguments', 'Size or SHA-256 differs from the file that the link was created for.', {
        issues: [{ path: '', message: 'does not fit sizeBytes and sha256' }],
      });
    }
    return await keep(context, row, octets, reply);
  } catch (error) {
    return sendRefusal(reply, refusalOf(context, error));
  }
}

function octetsOf({ body }: FastifyRequest): Buffer {
  if (Buffer.isBuffer(body) && body.length > 0) return body;
  return refuse('invalid_arguments', 'Empty body. Send the content of the file.', {
    issues: [{ path: '', message: 'is empty' }],
  });
}

async function keep(
  { store }: AppContext,
  row: Omit<NewAttachmentUpload, 'data' | 'file'>,
  octets: Buffer,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const done = await withStoredOctets(store, octets, 'uploaded', (kept) => store.write(addUpload, { ...row, ...kept }));
  if (done.kind === 'too-many') {
    refuse(
      'too_large',
      'Upload limit reached: 100 files and 200 MiB per key or token and day. Send the uploaded files first.',
    );
  }
  const expiresAt = new Date(done.expiresAt).toISOString();
  return reply.code(201).send({ uploadId: row.name, size: octets.length, expiresAt });
}
