import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import type { Sender } from './key-auth.ts';
import { keepOctets } from './keep-octets.ts';
import { withKey } from './send-desk.ts';
import { addUpload } from './upload-commands.ts';

/** Files that messages name as `uploadId`: the octets as they are, under a name that the key chooses. */
export function uploadRoutes(world: World): (app: FastifyInstance) => Promise<void> {
  const bodyLimit = world.settings.maxMessageBytes;
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.put(
      '/api/email/uploads/:id',
      { bodyLimit },
      withKey(world, (sender, request, reply) => upload(world, sender, request, reply)),
    );
    await Promise.resolve();
  };
}

async function upload(
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
  if (!Buffer.isBuffer(request.body) || request.body.length === 0) {
    refuse('invalid_arguments', 'Send the octets of the file as the body.', {
      issues: [{ path: '', message: 'is empty' }],
    });
  }
  const { store } = world;
  const row = { organization, credential, name };
  const done = await keepOctets(store, request.body, 'uploaded', (octets) =>
    store.write(addUpload, { ...row, ...octets }),
  );
  if (done.kind === 'too-many') {
    refuse('too_large', 'A key holds at most 100 uploads and 200 MiB for a day: send what is there first.');
  }
  return reply
    .code(201)
    .send({ uploadId: name, size: request.body.length, expiresAt: new Date(done.expiresAt).toISOString() });
}
