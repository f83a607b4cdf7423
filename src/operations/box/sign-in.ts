import { z } from 'zod';
import { ownerAddress } from '../../bootstrap/claim-letter.ts';
import { newSecret } from '../../people/secrets.ts';
import { addSignInLink } from '../../people/sign-in-commands.ts';
import { secretUrl } from '../../letters/secret-pages.ts';
import { operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { isoOf } from '../schemas.ts';

export const createSignInLink = operation({
  name: 'create_sign_in_link',
  title: 'A link to sign in once',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  secret: true,
  description:
    "Makes a link by which a member of the operator's organization (its owner, if none is named) signs in once, within a day; links made for them before open nothing any more.",
  hints: {},
  input: z.strictObject({ email: z.string().min(3).max(320).optional() }),
  output: z.object({ url: z.string(), email: z.string(), expiresAt: z.string() }),
  async run(call, { email }) {
    const key = email === undefined ? null : ownerAddress(email)?.key;
    if (key === undefined) return refuse('invalid_arguments', `${JSON.stringify(email)} is not a mail address.`);
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
