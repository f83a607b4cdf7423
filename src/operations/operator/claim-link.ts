import { z } from 'zod';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { operation } from '../../core/operation.ts';
import { secretUrl } from '../../notices/secret-pages.ts';
import { offerOperatorClaim } from '../../people/commands.ts';
import { newSecret } from '../../people/secrets.ts';

export const createClaimLink = operation({
  name: 'create_claim_link',
  title: 'Create the claim link of this server',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  secret: true,
  description:
    'Creates the link by which the first owner claims this server; earlier links end. Null if it is claimed already.',
  hints: {},
  input: z.strictObject({}),
  output: z.object({ url: z.string().nullable() }),
  async run(call) {
    const { secret, hash } = newSecret();
    const { kind } = await call.change(offerOperatorClaim, { organization: OPERATOR, hash }, 'claim link');
    return { url: kind === 'offered' ? secretUrl(call.baseUrl, 'claim', { token: secret }) : null };
  },
});
