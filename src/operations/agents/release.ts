import { z } from 'zod';
import { releaseAgentMail } from '../../agents/mode-commands.ts';
import { rowId } from '../../ids.ts';
import { operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id } from '../schemas.ts';
import { withoutMembers } from './agents.ts';

/** Messages, and recipients, that one request lets go. */
const MOST_RELEASED = 100_000;

export const releaseStoppedMail = operation({
  name: 'release_agent_mail',
  title: 'Let go what agents had sent',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description:
    'Lets go what was held when one agent, or with no token all of them, were stopped, in the order in which it was sent. `more` true: ask again for the rest.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject({ tokenId: Id('token').optional() }),
  output: z.object({ released: z.number(), more: z.boolean() }),
  rest: { method: 'POST', path: '/api/agents/release' },
  async run(call, { tokenId }) {
    withoutMembers(call);
    const id = tokenId === undefined ? null : (rowId('token', tokenId) ?? notFound('token'));
    const asked = { organization: call.tenant, id };
    let done = await call.change(releaseAgentMail, asked, tokenId ?? 'agents');
    for (let released = 0; ;) {
      if (done.kind === 'frozen') refuse('conflict', 'The organization is frozen: nothing of it is sent.');
      released += done.released;
      call.queueChanged();
      if (done.next === null || released >= MOST_RELEASED) return { released, more: done.next !== null };
      // Its audit row was written with the first slice: what follows was asked for there.
      done = await call.store.writeSlice(releaseAgentMail, { ...asked, from: done.next });
    }
  },
});
