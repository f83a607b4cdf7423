import type { FastifyRequest } from 'fastify';
import { journalOf } from '../../mail/store/journal.ts';
import { rowId } from '../ids.ts';
import { Refused } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import type { Sender } from './key-auth.ts';
import { cancelSent, moveSent, type Steered } from './sent-commands.ts';
import { findSent } from './sent-queries.ts';
import { sendersLines, shownSent } from './sent-shown.ts';

/** What was sent under the id in the path, and its story. */
export async function found(world: World, { organization }: Sender, request: FastifyRequest) {
  const id = rowId('sent', (request.params as { id: string }).id);
  const sent = id === undefined ? undefined : await world.store.read(findSent, { organization, id });
  if (sent === undefined) {
    throw new Refused({ error: 'not_found', message: 'There is no such message, or it is not this organization’s.' });
  }
  const lines = await world.store.read(journalOf, { trace: sent.trace, tenant: organization, accounts: null });
  return { sent, lines: sendersLines(sent, lines) };
}

/** How it stands with everybody. */
export async function status(world: World, sender: Sender, request: FastifyRequest) {
  const { sent, lines } = await found(world, sender, request);
  return shownSent(sent, lines);
}

export async function cancel(world: World, sender: Sender, request: FastifyRequest) {
  const { sent } = await found(world, sender, request);
  const { organization } = sender;
  ended(await world.store.write(cancelSent, { organization, id: sent.id }));
  return status(world, sender, request);
}

/** Gives a message that waits another time, ms UTC. */
export async function move(world: World, sender: Sender, request: FastifyRequest, sendAt: number) {
  const { sent } = await found(world, sender, request);
  const { organization } = sender;
  ended(await world.store.write(moveSent, { organization, id: sent.id, sendAt }));
  return status(world, sender, request);
}

function ended({ kind }: Steered): void {
  if (kind === 'done') return;
  throw new Refused({ error: 'conflict', message: 'The message has left already, or was cancelled before.' });
}
