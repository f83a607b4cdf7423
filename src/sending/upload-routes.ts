import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { say } from '../http/answers.ts';
import { refuse } from '../operations/refusal.ts';
import { linkHolds } from '../tokens/holds.ts';
import type { World } from '../operations/world.ts';
import type { Sender } from './key-auth.ts';
import { keepOctets } from './keep-octets.ts';
import { refusalOf, withKey } from './send-desk.ts';
import { addUpload, type NewUpload } from './upload-commands.ts';
import { readTicket } from './upload-link.ts';

/** Files that messages name as `uploadId`: of keys under names that they choose, of agents by a link for one file. */
export function uploadRoutes(world: World): (app: FastifyInstance) => Promise<void> {
  const bodyLimit = world.settings.maxMessageBytes;
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.put(
      '/api/email/uploads/:id',
      { bodyLimit },
      withKey(world, (sender, request, reply) => ofKey(world, sender, request, reply)),
    );
    app.put('/api/email/upload-links', { bodyLimit }, (request, reply) => byLink(world, request, reply));
    await Promise.resolve();
  };
}

function ofKey(
  world: World,
  { organization, credential }: Sender,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { id: name } = request.params as { id: string };
  if (!/^[\w-]{1,64}$/.test(name)) {
    refuse('invalid_arguments', 'The id of an upload has up to 64 letters, digits, - and _.', {
      issues: [{ path: 'id', message: 'has other characters' }],
    });
  }
  return keep(world, { organization, credential, name }, octetsOf(request), reply);
}

/** Whoever has the link may put that one file there, and nothing else. */
async function byLink(world: World, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { ticket } = request.query as { ticket?: unknown };
  void reply.header('cache-control', 'no-store');
  const wait = world.limits.take(request.ip, undefined, world.clock());
  if (wait > 0) {
    return say(reply, {
      error: 'rate_limited',
      message: `Too many requests: wait ${wait} s.`,
      retryAfterSeconds: wait,
    });
  }
  const place = readTicket(world.secrets.subkey('upload links'), String(ticket), world.clock());
  if (place === undefined || !(await linkHolds(world, place.credential))) {
    return say(reply, { error: 'not_found', message: 'This link is not good, or not any more: ask for a new one.' });
  }
  try {
    const octets = octetsOf(request);
    const { size, sha256, expires: _expires, ...row } = place;
    if (octets.length !== size || hash('sha256', octets) !== sha256) {
      refuse('invalid_arguments', 'This is another file than the link is for: its size or digest is not that.', {
        issues: [{ path: '', message: 'does not fit sizeBytes and sha256' }],
      });
    }
    return await keep(world, row, octets, reply);
  } catch (error) {
    return say(reply, refusalOf(world, error));
  }
}

function octetsOf({ body }: FastifyRequest): Buffer {
  if (Buffer.isBuffer(body) && body.length > 0) return body;
  return refuse('invalid_arguments', 'Send the octets of the file as the body.', {
    issues: [{ path: '', message: 'is empty' }],
  });
}

async function keep(
  { store }: World,
  row: Omit<NewUpload, 'data' | 'file'>,
  octets: Buffer,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const done = await keepOctets(store, octets, 'uploaded', (kept) => store.write(addUpload, { ...row, ...kept }));
  if (done.kind === 'too-many') {
    refuse('too_large', 'A key or token holds at most 100 uploads and 200 MiB for a day: send what is there first.');
  }
  const expiresAt = new Date(done.expiresAt).toISOString();
  return reply.code(201).send({ uploadId: row.name, size: octets.length, expiresAt });
}
