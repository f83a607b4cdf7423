import type { FastifyInstance, FastifyReply } from 'fastify';
import { csvLine } from '../core/csv.ts';
import { pageHeaders } from './page-headers.ts';
import { type PageExchange, type PortalDeps, visitorOf } from './page-exchange.ts';
import type { Params } from './page.ts';
import { addressBook } from './pages/address-book.ts';
import { isAllowed, visitOf } from './visit.ts';

/** `/o/{id}/mailboxes.csv`: mailboxes and aliases, in the form that the import takes. */
export function addressExportRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/o/:org/mailboxes.csv', (request, reply) => sendFile({ ...deps, request, reply }));
  };
}

async function sendFile(exchange: PageExchange): Promise<FastifyReply> {
  const { request, reply } = exchange;
  pageHeaders(reply);
  const visitor = await visitorOf(exchange);
  const { org = '' } = request.params as Params;
  const visit = visitor === undefined ? undefined : await visitOf(exchange, visitor, org);
  if (visit === undefined || !isAllowed(visit, 'list_emails')) {
    return reply.code(404).type('text/plain; charset=utf-8').send('No such file, or you are not signed in.\n');
  }
  const { mailboxes, aliases } = await addressBook(visit);
  const addresses = new Map(mailboxes.map(({ id, address }) => [id, address]));
  const lines = [
    csvLine(['address', 'name', 'alias of']),
    ...mailboxes.map(({ address, displayName }) => csvLine([address, displayName ?? '', ''])),
    // An alias with several targets has a row for the first one that the visitor may see.
    ...aliases.map(({ address, note, mailboxIds: [first = ''] }) =>
      csvLine([address, note ?? '', addresses.get(first) ?? '']),
    ),
  ];
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', 'attachment; filename="addresses.csv"')
    .send(lines.join(''));
}
