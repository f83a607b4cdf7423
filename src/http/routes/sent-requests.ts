import type { FastifyRequest } from 'fastify';
import { journalOf } from '../../../mail/store/journal/journal.ts';
import { rowId } from '../../core/ids.ts';
import { RefusedError } from '../../core/refusal.ts';
import type { AppContext } from '../../core/app-context.ts';
import type { ApiSender } from '../../sending/key-auth.ts';
import { cancelSent, moveSent, type SentChange } from '../../sending/sent-commands.ts';
import { findSent } from '../../sending/sent-queries.ts';
import { linesForSender, serializeSent } from '../../sending/serialize-sent.ts';

/** The sent message of the id in the path, with its journal. */
export async function findSentMail(context: AppContext, { organization }: ApiSender, request: FastifyRequest) {
  const id = rowId('sent', (request.params as { id: string }).id);
  const sent = id === undefined ? undefined : await context.store.read(findSent, { organization, id });
  if (sent === undefined) {
    throw new RefusedError({ error: 'not_found', message: 'No such message in this organization.' });
  }
  const lines = await context.store.read(journalOf, { trace: sent.trace, tenant: organization, accounts: null });
  return { sent, lines: linesForSender(sent, lines) };
}

/** Delivery status of all recipients. */
export async function sentStatus(context: AppContext, sender: ApiSender, request: FastifyRequest) {
  const { sent, lines } = await findSentMail(context, sender, request);
  return serializeSent(sent, lines);
}

export async function cancelSentMail(context: AppContext, sender: ApiSender, request: FastifyRequest) {
  const { sent } = await findSentMail(context, sender, request);
  const { organization } = sender;
  ended(await context.store.write(cancelSent, { organization, id: sent.id }));
  return sentStatus(context, sender, request);
}

/** Reschedules a message, ms UTC. */
export async function rescheduleSentMail(
  context: AppContext,
  sender: ApiSender,
  request: FastifyRequest,
  sendAt: number,
) {
  const { sent } = await findSentMail(context, sender, request);
  const { organization } = sender;
  ended(await context.store.write(moveSent, { organization, id: sent.id, sendAt }));
  return sentStatus(context, sender, request);
}

function ended({ kind }: SentChange): void {
  if (kind === 'done') return;
  throw new RefusedError({ error: 'conflict', message: 'Already sent or cancelled.' });
}
