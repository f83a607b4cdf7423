import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { jsonOnly, say } from '../http/answers.ts';
import { publicId } from '../ids.ts';
import type { Refusal } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { claim, type ClaimOutcome } from '../people/claim.ts';
import type { PeopleDesk } from '../people/desk.ts';
import { beginSession } from '../people/sessions.ts';
import { isPrivate, setSession } from './cookie.ts';

/** `POST /api/auth/claim {token, password, email?}`: what the page of a claim link does, for programs. Opens a session. */
export function claimRoute(world: World, desk: PeopleDesk): (app: FastifyInstance) => void {
  return (app) => {
    jsonOnly(app);
    app.post('/api/auth/claim', (request, reply) => answer(world, desk, request, reply));
  };
}

async function answer(
  world: World,
  desk: PeopleDesk,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  void reply.header('cache-control', 'no-store');
  const wait = world.limits.take(request.ip, undefined, world.clock());
  if (wait > 0) {
    return say(reply, {
      error: 'rate_limited',
      message: `Too many requests: wait ${wait} s.`,
      retryAfterSeconds: wait,
    });
  }
  const { token, password, email } = (request.body ?? {}) as Record<string, unknown>;
  if (typeof token !== 'string' || typeof password !== 'string') {
    return say(reply, { error: 'invalid_arguments', message: 'token and password are needed.' });
  }
  const address = typeof email === 'string' ? email : undefined;
  const done = await claim(world, desk, { token, password, email: address, way: 'rest', ip: request.ip });
  if (!('organization' in done)) return say(reply, refusalOf(done));
  await openFor(world, request, reply, done.user);
  return reply.send({
    claimed: true,
    organizationId: publicId('organization', done.organization),
    userId: publicId('user', done.user),
    addressProven: done.addressProven,
  });
}

async function openFor(world: World, request: FastifyRequest, reply: FastifyReply, user: number): Promise<void> {
  if (!isPrivate(request)) return;
  const agent = request.headers['user-agent'] ?? '';
  setSession(request, reply, await beginSession(world, user, { ip: request.ip, agent, before: null }));
}

function refusalOf(done: Exclude<ClaimOutcome, { organization: number }>): Refusal {
  switch (done.kind) {
    case 'missing':
      return { error: 'not_found', message: 'There is no such claim link.' };
    case 'used':
    case 'taken':
      return { error: 'conflict', message: 'This organization is claimed already: sign in at /login.' };
    case 'expired':
      return { error: 'challenge_expired', message: 'The link is too old: ask for another with resend_claim_link.' };
    case 'frozen':
      return { error: 'conflict', message: 'The operator of this box froze this organization.' };
    case 'sign-in':
      return { error: 'unauthorized', message: 'The owner has an account here: send the password of that account.' };
    case 'bad-password':
      return {
        error: 'invalid_arguments',
        message: `password: ${done.problem}`,
        issues: [{ path: 'password', message: done.problem }],
      };
    case 'bad-email':
      return {
        error: 'invalid_arguments',
        message: 'This link names nobody: send email, the address that you will sign in with.',
        issues: [{ path: 'email', message: 'missing' }],
      };
    case 'throttled':
      return {
        error: 'rate_limited',
        message: `Too many wrong passwords: wait ${done.retryAfter} s.`,
        retryAfterSeconds: done.retryAfter,
      };
    case 'busy':
      return { error: 'unavailable', message: 'Too many sign-ins at once: try again.', retryAfterSeconds: 5 };
  }
}
