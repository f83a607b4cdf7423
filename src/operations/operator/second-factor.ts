import { z } from 'zod';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { endMemberMail } from '../../webmail-sessions/end-member-mail.ts';
import { ownerAddress } from '../../notices/owners.ts';
import { resetSecondFactors } from '../../people/totp-commands.ts';

export const resetSecondFactor = operation({
  name: 'reset_second_factor',
  title: 'Reset the second factor of a person',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description:
    'Removes the second factors of a person who lost them, and ends their sessions: the password alone signs in. Check first that it is them.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({ email: z.string().min(3).max(320).describe('Address of the person') }),
  output: z.object({ reset: z.literal(true), email: z.string() }),
  async run(call, { email }) {
    const key = ownerAddress(email)?.key;
    if (key === undefined) return refuse('invalid_arguments', `${JSON.stringify(email)} is not a valid mail address.`);
    const done = await call.change(resetSecondFactors, { key }, email);
    if (done.kind !== 'reset') return notFound('person');
    await endMemberMail(call, done.user);
    return { reset: true as const, email };
  },
});
