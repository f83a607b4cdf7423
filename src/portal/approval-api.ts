import type { FastifyInstance, FastifyReply } from 'fastify';
import { decideByHttp, UNDECIDED_TEXT } from '../approvals/decision.ts';
import { authorizationOf, sendRefusal } from '../http/json-replies.ts';
import { publicId, rowId } from '../core/ids.ts';
import { findOutboxItem } from '../../mail/delivery/outbox-items.ts';
import { isFormToken } from '../people/secrets.ts';
import type { Refusal } from '../core/refusal.ts';
import { type PageExchange, type PortalDeps, visitorOf } from './page-exchange.ts';
import { Fields } from './form-fields.ts';
import { reauthenticate } from './reauthentication.ts';
import { deciderOf } from './pages/approvals.ts';
import { visitOf } from './visit.ts';

/**
 * `POST /api/outbox/{id}/approve` and `/deny`: needs the session cookie, the CSRF token in the field `form`, and `password`
 * if the sign-in is older than 15 minutes. Refuses API tokens: only a person may approve.
 */
export function outboxRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    for (const verb of ['approve', 'deny'] as const) {
      app.post(`/api/outbox/:id/${verb}`, (request, reply) => submit({ ...deps, request, reply }, verb === 'approve'));
    }
  };
}

async function submit(exchange: PageExchange, approves: boolean): Promise<FastifyReply> {
  const { reply, request } = exchange;
  void reply.header('cache-control', 'no-store');
  const done = await runDecision(exchange, approves);
  if ('error' in done) return sendRefusal(reply, done);
  const { id } = request.params as { id: string };
  return reply.send({ outboxId: id, state: done.state });
}

async function runDecision(
  exchange: PageExchange,
  approves: boolean,
): Promise<Refusal | { state: 'approved' | 'denied' }> {
  const { request, context } = exchange;
  if (authorizationOf(request) !== undefined) {
    return refused('action_not_allowed', 'Tokens and keys cannot approve mail. A person approves it in the portal.');
  }
  const visitor = await visitorOf(exchange);
  if (visitor === undefined) return refused('unauthorized', 'Sign in to the portal first.');
  const fields = new Fields(request.body);
  if (!isFormToken(fields.text('form'), visitor.secret)) {
    return refused('action_not_allowed', 'The field "form" does not match this session. Reload the page.');
  }
  const id = rowId('outbox', (request.params as { id: string }).id) ?? 0;
  const item = await context.store.read(findOutboxItem, { id, now: context.clock() });
  const visit = await visitOf(exchange, visitor, publicId('organization', item?.tenant ?? 0));
  if (visit === undefined) return refused('not_found', UNDECIDED_TEXT.missing);
  const wrong = approves ? await reauthenticate(exchange, visitor, fields.text('password')) : undefined;
  if (wrong !== undefined) return refused('action_not_allowed', wrong);
  const done = await decideByHttp(context, deciderOf(visit), { id, approves });
  if (done.kind === 'approved' || done.kind === 'denied') return { state: done.kind };
  return refused(done.kind === 'missing' ? 'not_found' : 'conflict', UNDECIDED_TEXT[done.kind]);
}

function refused(error: Refusal['error'], message: string): Refusal {
  return { error, message, requestId: '' };
}
