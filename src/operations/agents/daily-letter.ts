import { z } from 'zod';
import { setDailyLetter } from '../../digest/commands.ts';
import { operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';

export const setOwnDailyLetter = operation({
  name: 'set_daily_letter',
  title: 'Get the daily letter, or not',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  peopleOnly: true,
  description:
    'Turns the daily letter about what agents did on or off, for the owner who is signed in. It has the end of the audit log too.',
  hints: { idempotent: true },
  input: z.strictObject({ on: z.boolean() }),
  output: z.object({ on: z.boolean() }),
  rest: { method: 'PUT', path: '/api/agents/daily-letter' },
  async run(call, { on }) {
    const { user } = call.caller;
    if (user === undefined) {
      return refuse('action_not_allowed', 'Each owner decides about their own letter: sign in to the portal.', {
        requiredAction: 'person',
      });
    }
    const input = { organization: call.tenant, user: user.id, on };
    const done = await call.change(setDailyLetter, input, 'daily letter', { on });
    return done.kind === 'missing' ? notFound('owner') : { on };
  },
});
