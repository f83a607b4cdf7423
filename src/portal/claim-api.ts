import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptJsonOnly, isRateLimited, sendRefusal } from '../http/json-replies.ts';
import { publicId } from '../core/ids.ts';
import type { Refusal } from '../core/refusal.ts';
import type { AppContext } from '../core/app-context.ts';
import { claim, type ClaimLinkOutcome } from '../people/claim.ts';
import { PASSWORD_PROBLEMS } from '../people/password.ts';
import { type SignIn, startSignIn } from '../people/sign-in.ts';
import { deviceOf, isSecure, setSession, setStep } from './session-cookie.ts';

/** `POST /api/auth/claim {token, password, email?}`: claims an organization over REST and opens a session. */
export function claimRoute(context: AppContext, people: SignIn): (app: FastifyInstance) => void {
  return (app) => {
    acceptJsonOnly(app);
    app.post('/api/auth/claim', (request, reply) => answer(context, people, request, reply));
  };
}

async function answer(
  context: AppContext,
  people: SignIn,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (isRateLimited(context, request, reply)) return reply;
  const { token, password, email } = (request.body ?? {}) as Record<string, unknown>;
  if (typeof token !== 'string' || typeof password !== 'string') {
    return sendRefusal(reply, { error: 'invalid_arguments', message: 'token and password are required.' });
  }
  const address = typeof email === 'string' ? email : undefined;
  const done = await claim(context, people, { token, password, email: address, way: 'rest', ip: request.ip });
  if (!('organization' in done)) return sendRefusal(reply, refusalOf(done));
  await openSession(context, request, reply, done.user);
  return reply.send({
    claimed: true,
    organizationId: publicId('organization', done.organization),
    userId: publicId('user', done.user),
    addressProven: done.addressProven,
  });
}

async function openSession(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  user: number,
): Promise<void> {
  if (!isSecure(request)) return;
  const browser = {
    ip: request.ip,
    agent: request.headers['user-agent'] ?? '',
    before: null,
    device: deviceOf(request).hash,
  };
  const { kind, secret } = await startSignIn(context, { user, method: 'claim', next: '/' }, browser);
  if (kind === 'in') setSession(request, reply, secret);
  else setStep(request, reply, secret);
}

function refusalOf(done: Exclude<ClaimLinkOutcome, { organization: number }>): Refusal {
  switch (done.kind) {
    case 'missing':
      return { error: 'not_found', message: 'No such claim link.' };
    case 'used':
    case 'taken':
      return { error: 'conflict', message: 'This organization is already claimed. Sign in at /login.' };
    case 'expired':
      return {
        error: 'challenge_expired',
        message: 'The claim link has expired. Request another with resend_claim_link.',
      };
    case 'frozen':
      return { error: 'conflict', message: 'The operator of this server has frozen this organization.' };
    case 'sign-in':
      return {
        error: 'unauthorized',
        message: 'The owner already has an account on this server. Send the password of that account.',
      };
    case 'bad-password':
      return {
        error: 'invalid_arguments',
        message: `password: ${PASSWORD_PROBLEMS[done.fault]}`,
        issues: [{ path: 'password', message: PASSWORD_PROBLEMS[done.fault] }],
      };
    case 'bad-email':
      return {
        error: 'invalid_arguments',
        message: 'This link names no owner. Send "email", the address to sign in with.',
        issues: [{ path: 'email', message: 'missing' }],
      };
    case 'throttled':
      return {
        error: 'rate_limited',
        message: `Too many wrong passwords. Retry in ${done.retryAfter} s.`,
        retryAfterSeconds: done.retryAfter,
      };
    case 'busy':
      return { error: 'unavailable', message: 'Too many concurrent sign-ins. Retry in 5 s.', retryAfterSeconds: 5 };
  }
}
