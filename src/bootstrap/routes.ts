import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { jsonOnly, say } from '../http/answers.ts';
import { publicId, rowId } from '../ids.ts';
import { anonymousCaller } from '../operations/caller.ts';
import type { World } from '../operations/world.ts';
import { completeRecovery, startRecovery } from '../recovery/commands.ts';
import { readBase64, verifies } from '../recovery/ed25519.ts';
import { openRecovery } from '../recovery/gate-queries.ts';
import { ALL_ACTIONS, makeToken, secretHash, shownPart } from '../tokens/token.ts';

const CHALLENGE_BYTES = 32;

/** Doors for who has no credential: an account for a human, and the way back in with a recovery key. */
export function bootstrapRoutes(world: World): (app: FastifyInstance) => void {
  return (app) => {
    jsonOnly(app);
    app.post('/api/auth/bootstrap-account', (request, reply) => bootstrap(world, request, reply));
    app.post('/api/auth/recovery/start', (request, reply) => start(world, request, reply));
    app.post('/api/auth/recovery/complete', (request, reply) => complete(world, request, reply));
  };
}

async function bootstrap(world: World, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (flooded(world, request, reply)) return reply;
  const [{ bootstrapAccount }, { perform }] = await Promise.all([
    import('../operations/accounts/bootstrap-tools.ts'),
    import('../operations/perform.ts'),
  ]);
  const outcome = await perform(world, bootstrapAccount, anonymousCaller('rest', request.ip), request.body);
  return outcome.kind === 'done' ? reply.code(201).send(outcome.result) : say(reply, outcome.refusal);
}

/** `{organizationId, keyId}` -> a challenge. Foreign and missing keys are answered alike. */
async function start(world: World, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (flooded(world, request, reply)) return reply;
  const { organizationId, keyId } = textFields(request.body);
  const organization = rowId('organization', organizationId ?? '');
  const key = rowId('recoveryKey', keyId ?? '');
  if (organization === undefined || key === undefined) {
    return say(reply, { error: 'invalid_arguments', message: 'organizationId and keyId are needed.' });
  }
  const challenge = randomBytes(CHALLENGE_BYTES);
  const done = await world.store.write(startRecovery, { organization, key, challenge: Uint8Array.from(challenge) });
  if (done.kind === 'missing') {
    return say(reply, { error: 'not_found', message: 'There is no such active recovery key.' });
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
async function complete(world: World, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (flooded(world, request, reply)) return reply;
  const { recoveryId, signature } = textFields(request.body);
  const id = rowId('recovery', recoveryId ?? '');
  const signed = readBase64(signature ?? '');
  const open = id === undefined ? undefined : await world.store.read(openRecovery, { id });
  if (id === undefined || open === undefined) {
    return say(reply, { error: 'not_found', message: 'There is no such recovery: start one first.' });
  }
  const good = signed !== undefined && verifies(open.public, open.challenge, signed);
  const secret = makeToken(world.settings.tokenPrefix);
  const token = { hash: secretHash(secret), shown: shownPart(secret), actions: [...ALL_ACTIONS] };
  const challenge = Uint8Array.from(open.challenge);
  const { actor, actorName, way, ip } = anonymousCaller('rest', request.ip);
  const entry = { actor, actorName, way, ip, operation: 'recover_organization', target: publicId('recovery', id) };
  const done = await world.store.write(completeRecovery, { id, challenge, good, token, entry });
  switch (done.kind) {
    case 'recovered':
      return reply.send({
        organizationId: publicId('organization', done.organization),
        token: secret,
        revokedTokens: done.revoked,
      });
    case 'wrong':
      return say(reply, {
        error: 'invalid_signature',
        message: 'The signature does not verify: sign the 32 raw bytes, not their base64 text.',
        attemptsLeft: done.attemptsLeft,
      });
    case 'expired':
      return say(reply, { error: 'challenge_expired', message: 'The 10 minutes are over: start again.' });
    case 'spent':
      return say(reply, { error: 'too_many_attempts', message: 'Too many wrong signatures: start again.' });
    case 'missing':
      return say(reply, { error: 'not_found', message: 'There is no such recovery: start one first.' });
  }
}

/** True when the peer asks too often and was told so. */
function flooded(world: World, request: FastifyRequest, reply: FastifyReply): boolean {
  void reply.header('cache-control', 'no-store');
  const wait = world.limits.take(request.ip, undefined, world.clock());
  if (wait > 0) {
    say(reply, { error: 'rate_limited', message: `Too many requests: wait ${wait} s.`, retryAfterSeconds: wait });
  }
  return wait > 0;
}

function textFields(body: unknown): Readonly<Record<string, string>> {
  if (typeof body !== 'object' || body === null) return {};
  return Object.fromEntries(Object.entries(body).filter((one): one is [string, string] => typeof one[1] === 'string'));
}
