import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_SNOOZED, snoozedEmails, snoozeEmails } from '../../mail/store/message/snooze.ts';
import { jmapId, jmapRow } from '../../mail/store/object-id.ts';
import type { AppContext } from '../core/app-context.ts';
import { isOwnPage } from '../http/own-page.ts';
import { Fields } from '../portal/form-fields.ts';
import {
  type MailReader,
  personOf,
  sendReaderProblem,
  findMailReader,
  sendJson,
  SESSION_ENDED,
} from './mail-reader.ts';

/** Messages of one request, and of one commit. */
const MAX_EMAILS = 200;
const SLICE = 25;
const MAX_DAYS = 366;

/** Routes that snooze messages of a reader: `GET /mail/snoozed`, and a form that snoozes messages or ends that. */
export function snoozeRoutes(context: AppContext, app: FastifyInstance): void {
  app.get('/mail/snoozed', async (request, reply) => {
    if (!isOwnPage(context, request)) return sendReaderProblem(reply, 403, 'Open web mail on this site.');
    const found = await findMailReader(context, request);
    if (found.kind === 'out') return sendReaderProblem(reply, 401, SESSION_ENDED);
    // Web mail asks as it starts, also with a password that agents may use.
    return sendJson(reply, { snoozed: found.kind === 'reader' ? await snoozedOf(context, found.reader) : [] });
  });
  app.post('/mail/snooze', (request, reply) => snooze(context, request, reply));
}

/** A snoozed message as the page reads it. */
export interface SnoozedMessage {
  email: string;
  until: string;
  back: boolean;
}

/** The snoozed messages of a reader, and those that came back within a day. */
export async function snoozedOf(
  { store }: AppContext,
  { account }: Pick<MailReader, 'account'>,
): Promise<SnoozedMessage[]> {
  const rows = await store.read(snoozedEmails, { account });
  return rows.map(({ email, until, back }) => ({
    email: jmapId('email', email),
    until: new Date(until).toISOString(),
    back,
  }));
}

async function snooze(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const reader = await personOf(context, request, reply, true);
  if (reader === undefined) return reply;
  const { account } = reader;
  const fields = new Fields(request.body);
  const emails = fields
    .text('emails')
    .split(' ', MAX_EMAILS)
    .flatMap((id) => jmapRow('email', account, id) ?? []);
  const lead = jmapRow('email', account, fields.text('lead')) ?? 0;
  const until = untilOf(fields.text('until'), context.clock());
  if (until === undefined) return sendReaderProblem(reply, 422, 'Choose a time within a year.', 'snooze-time');
  for (let at = 0; at < emails.length; at += SLICE) {
    const input = { account, emails: emails.slice(at, at + SLICE), lead, until };
    const done = await context.store.write(snoozeEmails, input);
    if (done.kind === 'too-many')
      return sendReaderProblem(
        reply,
        409,
        `Limit reached: ${MAX_SNOOZED} snoozed messages. End the snooze of some first.`,
        'too-many-snoozed',
      );
  }
  return sendJson(reply, { snoozed: await snoozedOf(context, reader) });
}

/** The time of a form; null for an empty one, undefined for one that is too late or none. */
function untilOf(text: string, now: number): number | null | undefined {
  if (text === '') return null;
  const at = Date.parse(text);
  return Number.isNaN(at) || at < now - 60_000 || at > now + MAX_DAYS * 86_400_000 ? undefined : at;
}
