import type { FastifyInstance, FastifyReply } from 'fastify';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { EventWriter } from '../http/event-writer.ts';
import { hashOf } from '../people/secrets.ts';
import { findVisitor } from '../people/session-commands.ts';
import { pageHeaders } from './page-headers.ts';
import { sessionSecret } from './session-cookie.ts';
import { type PageExchange, type PortalDeps, visitorOf } from './page-exchange.ts';
import type { Params } from './page.ts';
import { logFilterIn, serverLog } from './pages/server-log.ts';
import { isAllowed, visitOf } from './visit.ts';

const EVERY_MS = 1_000;
const MAX_LINES = 100;
const MAX_STREAMS = 5;
/** Events between two checks of the session. */
const CHECK_EVERY = 15;
/** The browser connects again, with a fresh check of the rights. */
const MAX_AGE_MS = 10 * 60_000;
const DRAIN_TIMEOUT_MS = 30_000;

/** `/o/{id}/log/events`: new lines of the log as server-sent events, for the operator. */
export function logStreamRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  const open = new Set<EventWriter>();
  return (app) => {
    app.get('/o/:org/log/events', { exposeHeadRoute: false }, (request, reply) =>
      openStream({ ...deps, request, reply }, open),
    );
    app.addHook('preClose', async () => open.forEach((one) => one.cutOff()));
  };
}

async function openStream(exchange: PageExchange, open: Set<EventWriter>): Promise<FastifyReply> {
  const { request, reply } = exchange;
  if (!(await mayRead(exchange))) return refuse(reply, 404, 'not_found');
  if (open.size >= MAX_STREAMS) return refuse(reply.header('retry-after', '30'), 503, 'busy');
  const writer = new EventWriter(reply, { 'x-content-type-options': 'nosniff' });
  open.add(writer);
  writer.onClose(() => open.delete(writer));
  follow(exchange, writer, logFilterIn(request.query as Record<string, unknown>));
  return reply;
}

function refuse(reply: FastifyReply, status: number, error: string): FastifyReply {
  pageHeaders(reply);
  return reply.code(status).type('application/json; charset=utf-8').send({ error });
}

async function mayRead(exchange: PageExchange): Promise<boolean> {
  const visitor = await visitorOf(exchange);
  const { org = '' } = exchange.request.params as Params;
  const visit = visitor && (await visitOf(exchange, visitor, org));
  return visit !== undefined && isAllowed(visit, serverLog.needs) && visit.membership.role !== 'member';
}

/** Sends new lines once a second, at most 100: how many were left out is sent with them. */
function follow({ context, request }: PageExchange, writer: EventWriter, filter: ReturnType<typeof logFilterIn>): void {
  const { recentLog } = context;
  const began = context.clock();
  let number = recentLog.last;
  let busy = false;
  let events = 0;
  const send = async (): Promise<void> => {
    if (context.clock() - began > MAX_AGE_MS) return writer.end();
    if (++events % CHECK_EVERY === 0 && !(await mayFollow({ context, request }))) return writer.end();
    await writer.drained(DRAIN_TIMEOUT_MS);
    const { lines, skipped } = recentLog.after(number, filter, MAX_LINES);
    number = recentLog.last;
    if (lines.length > 0 || skipped > 0) writer.event({ event: 'lines', data: { lines, skipped } });
    else if (events % CHECK_EVERY === 0) writer.write(':\n\n');
  };
  writer.every(EVERY_MS, () => {
    if (busy) return;
    busy = true;
    send()
      .catch(() => writer.cutOff())
      .finally(() => (busy = false));
  });
}

/** Checks session and role without using the session: an open page must not keep it from its idle timeout. */
async function mayFollow({ context, request }: Pick<PageExchange, 'context' | 'request'>): Promise<boolean> {
  const hash = hashOf(sessionSecret(request));
  const now = context.clock();
  const found = hash && (await context.store.read(findVisitor, { hash, now }));
  const operator = found?.memberships.find(({ organization, frozen }) => organization === OPERATOR && !frozen);
  return operator !== undefined && operator.role !== 'member';
}
