import { operation } from '../../core/operation.ts';
import { isoOf } from '../../core/schemas.ts';
import { ownerAddress } from '../../notices/owners.ts';
import { z } from 'zod';
import { newSecret } from '../../people/secrets.ts';
import { addSignInLink } from '../../people/session-commands.ts';
import { secretUrl } from '../../notices/secret-pages.ts';
import { refuse } from '../../core/refusal.ts';

export const createSignInLink = operation({
  name: 'create_sign_in_link',
  title: 'Create a one-time sign-in link',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  secret: true,
  description:
    "Creates a link by which a member of the operator's organization (default: its owner) signs in once, within a day; earlier links for them expire.",
  hints: {},
  input: z.strictObject({ email: z.string().min(3).max(320).describe('Address of the member').optional() }),
  output: z.object({ url: z.string(), email: z.string(), expiresAt: z.string() }),
  async run(call, { email }) {
    const key = email === undefined ? null : ownerAddress(email)?.key;
    if (key === undefined) return refuse('invalid_arguments', `${JSON.stringify(email)} is not a valid mail address.`);
    const { secret, hash } = newSecret();
    const done = await call.change(addSignInLink, { key, hash }, email ?? 'owner');
    if (done.kind === 'nobody') {
      const whom = email === undefined ? 'has no owner yet: open its claim link' : `has no member ${email}`;
      return refuse('not_found', `The operator's organization ${whom}.`);
    }
    const url = secretUrl(call.baseUrl, 'signIn', { token: secret });
    return { url, email: done.email, expiresAt: isoOf(done.expiresAt) };
  },
});
