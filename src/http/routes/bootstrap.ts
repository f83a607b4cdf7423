import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptJsonOnly, isRateLimited, sendRefusal } from '../json-replies.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { anonymousCaller } from '../../core/caller.ts';
import type { AppContext } from '../../core/app-context.ts';
import { completeRecovery, startRecovery } from '../../recovery/commands.ts';
import { readBase64, verifyEd25519 } from '../../recovery/ed25519.ts';
import { openRecovery } from '../../recovery/gate-queries.ts';
import { ALL_ACTIONS, makeToken, secretHash, shownPart } from '../../core/token.ts';

const CHALLENGE_BYTES = 32;

/** Routes without credentials: account creation for a human owner, and recovery by key. */
export function bootstrapRoutes(context: AppContext): (app: FastifyInstance) => void {
  return (app) => {
    acceptJsonOnly(app);
    app.post('/api/auth/bootstrap-account', (request, reply) => bootstrap(context, request, reply));
    app.post('/api/auth/recovery/start', (request, reply) => start(context, request, reply));
    app.post('/api/auth/recovery/complete', (request, reply) => complete(context, request, reply));
  };
}

async function bootstrap(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (isRateLimited(context, request, reply)) return reply;
  const [{ bootstrapAccount }, { perform }] = await Promise.all([
    import('../../operations/accounts/bootstrap-tools.ts'),
    import('../../operations/perform.ts'),
  ]);
  const outcome = await perform(context, bootstrapAccount, anonymousCaller('rest', request.ip), request.body);
  return outcome.kind === 'done' ? reply.code(201).send(outcome.result) : sendRefusal(reply, outcome.refusal);
}

/** `{organizationId, keyId}` -> a challenge. Foreign and unknown keys get the same answer. */
async function start(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (isRateLimited(context, request, reply)) return reply;
  const { organizationId, keyId } = textFields(request.body);
  const organization = rowId('organization', organizationId ?? '');
  const key = rowId('recoveryKey', keyId ?? '');
  if (organization === undefined || key === undefined) {
    return sendRefusal(reply, { error: 'invalid_arguments', message: 'organizationId and keyId are required.' });
  }
  const challenge = randomBytes(CHALLENGE_BYTES);
  const done = await context.store.write(startRecovery, { organization, key, challenge: Uint8Array.from(challenge) });
  if (done.kind === 'missing') {
    return sendRefusal(reply, { error: 'not_found', message: 'No such active recovery key.' });
  }
  return reply.code(201).send({
    recoveryId: publicId('recovery', done.id),
    challenge: challenge.toString('base64url'),
    encoding: 'base64url',
    algorithm: 'Ed25519',
    expiresAt: new Date(done.expiresAt).toISOString(),
  });
}

/** `{recoveryId, signature}` -> a new owner token; every other token of the organization is revoked. */
async function complete(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (isRateLimited(context, request, reply)) return reply;
  const { recoveryId, signature } = textFields(request.body);
  const id = rowId('recovery', recoveryId ?? '');
  const signed = readBase64(signature ?? '');
  const open = id === undefined ? undefined : await context.store.read(openRecovery, { id });
  if (id === undefined || open === undefined) {
    return sendRefusal(reply, { error: 'not_found', message: 'No such recovery. Start one first.' });
  }
  const good = signed !== undefined && verifyEd25519(open.public, open.challenge, signed);
  const secret = makeToken(context.settings.tokenPrefix);
  const token = { hash: secretHash(secret), shown: shownPart(secret), actions: [...ALL_ACTIONS] };
  const challenge = Uint8Array.from(open.challenge);
  const { actor, actorName, way, ip } = anonymousCaller('rest', request.ip);
  const entry = { actor, actorName, way, ip, operation: 'recover_organization', target: publicId('recovery', id) };
  const done = await context.store.write(completeRecovery, { id, challenge, good, token, entry });
  switch (done.kind) {
    case 'recovered':
      return reply.send({
        organizationId: publicId('organization', done.organization),
        token: secret,
        revokedTokens: done.revoked,
      });
    case 'wrong':
      return sendRefusal(reply, {
        error: 'invalid_signature',
        message: 'Invalid signature. Sign the 32 raw octets, not their base64 text.',
        attemptsLeft: done.attemptsLeft,
      });
    case 'expired':
      return sendRefusal(reply, {
        error: 'challenge_expired',
        message: 'The challenge expired after 10 minutes. Start again.',
      });
    case 'spent':
      return sendRefusal(reply, { error: 'too_many_attempts', message: 'Too many wrong signatures. Start again.' });
    case 'missing':
      return sendRefusal(reply, { error: 'not_found', message: 'No such recovery. Start one first.' });
  }
}

function textFields(body: unknown): Readonly<Record<string, string>> {
  if (typeof body !== 'object' || body === null) return {};
  return Object.fromEntries(Object.entries(body).filter((one): one is [string, string] => typeof one[1] === 'string'));
}
