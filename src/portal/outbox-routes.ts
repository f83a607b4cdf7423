import type { FastifyInstance, FastifyReply } from 'fastify';
import { decide, UNDECIDED } from '../approvals/decision.ts';
import { authorizationOf, say } from '../http/answers.ts';
import { publicId, rowId } from '../ids.ts';
import { outboxItem } from '../../mail/delivery/outbox-items.ts';
import { isFormToken } from '../people/secrets.ts';
import type { Refusal } from '../operations/refusal.ts';
import { type Asked, type Door, visitorOf } from './door.ts';
import { Fields } from './guard.ts';
import { proveAgain } from './own-password.ts';
import { deciderOf } from './pages/waiting-mail.ts';
import { visitOf } from './visit.ts';

/**
 * `POST /api/outbox/{id}/approve` and `/deny`, for pages of people: a session's cookie with the token of its forms in the
 * field `form`, and `password` where the sign-in is not fresh. Whoever comes with a token of the control plane is refused.
 */
export function outboxRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    for (const verb of ['approve', 'deny'] as const) {
      app.post(`/api/outbox/:id/${verb}`, (request, reply) => answer({ ...door, request, reply }, verb === 'approve'));
    }
  };
}

async function answer(asked: Asked, approves: boolean): Promise<FastifyReply> {
  const { reply, request } = asked;
  void reply.header('cache-control', 'no-store');
  const done = await decided(asked, approves);
  if ('error' in done) return say(reply, done);
  const { id } = request.params as { id: string };
  return reply.send({ outboxId: id, state: done.state });
}

async function decided(asked: Asked, approves: boolean): Promise<Refusal | { state: 'approved' | 'denied' }> {
  const { request, world } = asked;
  if (authorizationOf(request) !== undefined) {
    return refused(
      'action_not_allowed',
      'No token and no key decides about mail that waits: a person does, in the portal.',
    );
  }
  const visitor = await visitorOf(asked);
  if (visitor === undefined) return refused('unauthorized', 'Sign in to the portal first.');
  const fields = new Fields(request.body);
  if (!isFormToken(fields.text('form'), visitor.secret)) {
    return refused('action_not_allowed', 'The field "form" is not that of this session: load the page again.');
  }
  const id = rowId('outbox', (request.params as { id: string }).id) ?? 0;
  const item = await world.store.read(outboxItem, { id, now: world.clock() });
  const visit = await visitOf(asked, visitor, publicId('organization', item?.tenant ?? 0));
  if (visit === undefined) return refused('not_found', UNDECIDED.missing);
  const wrong = approves ? await proveAgain(asked, visitor, fields.text('password')) : undefined;
  if (wrong !== undefined) return refused('action_not_allowed', wrong);
  const done = await decide(world, deciderOf(visit), { id, approves });
  if (done.kind === 'approved' || done.kind === 'denied') return { state: done.kind };
  return refused(done.kind === 'missing' ? 'not_found' : 'conflict', UNDECIDED[done.kind]);
}

function refused(error: Refusal['error'], message: string): Refusal {
  return { error, message, requestId: '' };
}
