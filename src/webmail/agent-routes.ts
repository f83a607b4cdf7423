import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { jmapRow } from '../../mail/store/object-id.ts';
import type { AppContext } from '../core/app-context.ts';
import { isOwnPage } from '../http/own-page.ts';
import { Fields } from '../portal/form-fields.ts';
import { type AgentAct, decideHeld, setMode, takeOver, undoInThread } from './agent-acts.ts';
import { agentView, EMPTY_VIEW } from './agent-view.ts';
import { personOf, sendReaderProblem, findMailReader, sendJson, SESSION_ENDED } from './mail-reader.ts';

const ACTS: Readonly<Record<string, AgentAct>> = {
  decide: decideHeld,
  'take-over': takeOver,
  undo: undoInThread,
  mode: setMode,
};

/**
 * Routes about agents for readers of web mail: `GET /mail/agents/:thread`, and forms for what they do about them. Only people
 * use them; the origin of forms is checked before, as of all of web mail.
 */
export function agentRoutes(context: AppContext, app: FastifyInstance): void {
  app.get('/mail/agents/:thread', async (request, reply) => {
    if (!isOwnPage(context, request)) return sendReaderProblem(reply, 403, 'Open web mail on this site.');
    return showAgents(context, request, reply);
  });
  app.post('/mail/agents/:act', async (request, reply) => {
    const { act: name } = request.params as { act: string };
    const act = Object.hasOwn(ACTS, name) ? ACTS[name] : undefined;
    if (act === undefined) return reply.callNotFound();
    const reader = await personOf(context, request, reply, true);
    if (reader === undefined) return reply;
    const done = await act({ context, reader, fields: new Fields(request.body) });
    return done.kind === 'refused' ? sendReaderProblem(reply, done.status, done.problem) : sendJson(reply, done.result);
  });
}

async function showAgents(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const found = await findMailReader(context, request);
  if (found.kind === 'out') return sendReaderProblem(reply, 401, SESSION_ENDED);
  if (found.kind === 'agent') return sendJson(reply, EMPTY_VIEW);
  const { thread } = request.params as { thread: string };
  const row = jmapRow('thread', found.reader.account, thread);
  return sendJson(reply, row === undefined ? EMPTY_VIEW : await agentView(context, found.reader, row));
}
