import { z } from 'zod';
import { releaseAgentMail } from '../../agents/mode-commands.ts';
import { rowId } from '../../ids.ts';
import { operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id } from '../schemas.ts';
import { MOST_SLICES, withoutMembers } from './agents.ts';

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
    let released = 0;
    for (let slice = 0; slice < MOST_SLICES; slice++) {
      const done = await call.change(releaseAgentMail, { organization: call.tenant, id }, tokenId ?? 'agents');
      if (done.kind === 'frozen') refuse('conflict', 'The organization is frozen: nothing of it is sent.');
      released += done.released;
      call.queueChanged();
      if (!done.more) return { released, more: false };
    }
    return { released, more: true };
  },
});
