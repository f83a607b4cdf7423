import { z } from 'zod';
import { createOrganization, type BootstrapResponse } from '../../bootstrap/bootstrap.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { type Call, operation } from '../../core/operation.ts';
import { Line, Organization } from '../../core/schemas.ts';

const Name = Line(1, 80)
  .refine((name) => name.trim() !== '', 'must not be blank')
  .describe('Display name of the organization');
const Owner = {
  ownerEmail: Line(3, 320).describe('Address of the human owner, who gets the claim email'),
  organizationName: Name,
  ownerDisplayName: Line(1, 80).describe('Name of the owner').optional(),
};
const WithToken = {
  token: z.string().optional(),
  setupHint: z.string().optional(),
  tokenNotice: z.string().optional(),
};
const Claim = {
  organization: Organization,
  ownerUserId: z.string(),
  claimUrl: z.string(),
  claimExpiresAt: z.string(),
  emailSent: z.boolean(),
};

const TOKEN_NOTICE =
  'This token is shown once and can do everything in the organization: store it secretly, never log or commit it.';

/** Fields that only a caller without a token gets. */
function tokenFields({ baseUrl }: Call, token: string | undefined) {
  if (token === undefined) return {};
  const setupHint = `claude mcp add --transport http mailstead ${baseUrl()}/mcp --header "Authorization: Bearer ${token}"`;
  return { token, setupHint, tokenNotice: TOKEN_NOTICE };
}

function claimFields(made: BootstrapResponse) {
  const { organization, ownerUserId = '', claimUrl = '', claimExpiresAt = '', emailSent = false } = made;
  return { organization, ownerUserId, claimUrl, claimExpiresAt, emailSent };
}

export const createAccountAndClaimLink = operation({
  name: 'create_account_and_claim_link',
  title: 'Create an organization for a human owner',
  toolset: 'core',
  core: true,
  reach: 'any',
  action: 'anonymous',
  secret: true,
  description:
    'Creates an organization and its human owner, emails the owner a claim link and returns another one (valid 14 days). An anonymous caller also gets a token of the new organization, shown once. Limits: 10 an hour per network address, 1 a day per owner address.',
  hints: { openWorld: true },
  rule: noMailboxes,
  writesToStrangers: 'governed',
  outgoingTexts: (_call, { ownerEmail, organizationName, ownerDisplayName = '' }) => [
    ownerEmail,
    organizationName,
    ownerDisplayName,
  ],
  input: z.strictObject(Owner),
  output: z.object({ ...Claim, ...WithToken, nextSteps: z.array(z.string()) }),
  async run(call, { ownerEmail, organizationName, ownerDisplayName }) {
    const owner = { email: ownerEmail, displayName: ownerDisplayName };
    const made = await createOrganization(call, {
      organizationName,
      owner,
      withToken: call.caller.kind === 'anonymous',
    });
    return {
      ...claimFields(made),
      ...tokenFields(call, made.token),
      nextSteps: [
        'Give claimUrl to the human owner, or say that the claim email is on its way.',
        'Store the token, and send it as "Authorization: Bearer <token>" with every call.',
        'Add a domain with add_email_domain, publish the records it returns, then verify_email_domain.',
        'Create a mailbox with provision_email and get its login with reveal_email_credentials.',
      ],
    };
  },
});

export const createOwnOrganization = operation({
  name: 'create_own_organization',
  title: 'Create an organization of your own',
  toolset: 'core',
  core: true,
  reach: 'any',
  action: 'anonymous',
  secret: true,
  description:
    'Creates an organization owned by the calling agent, without a human owner or claim email, and returns its owner token, shown once. Limit: 10 an hour per network address. Register a recovery key next: without one nothing can be deployed and a lost token cannot be replaced.',
  hints: {},
  rule: noMailboxes,
  input: z.strictObject({ organizationName: Name }),
  output: z.object({ organization: Organization, ...WithToken, nextSteps: z.array(z.string()) }),
  async run(call, { organizationName }) {
    const made = await createOrganization(call, { organizationName, withToken: true });
    return {
      organization: made.organization,
      ...tokenFields(call, made.token),
      nextSteps: [
        'Store the token: it is the only access until a recovery key is active.',
        'Create an Ed25519 key: openssl genpkey -algorithm ed25519 -out key.pem',
        'Print its public key: openssl pkey -in key.pem -pubout -outform DER | base64 -w0',
        `Call register_recovery_key with organizationId ${made.organization.id}, a label and that public key.`,
        'Sign the challenge: decode it to challenge.bin, then openssl pkeyutl -sign -inkey key.pem -rawin -in challenge.bin | base64 -w0',
        'Call verify_recovery_key with keyId and the signature within 10 minutes; afterwards deploying works.',
      ],
    };
  },
});

/** `POST /api/auth/bootstrap-account`: the same account, never a token. */
export const bootstrapAccount = operation({
  name: 'bootstrap_account',
  title: 'Create an account for a human',
  toolset: 'core',
  reach: 'any',
  action: 'anonymous',
  secret: true,
  description: 'Creates an organization and its human owner and emails the claim link. Issues no token.',
  hints: { openWorld: true },
  input: z.strictObject(Owner),
  output: z.object(Claim),
  async run(call, { ownerEmail, organizationName, ownerDisplayName }) {
    const owner = { email: ownerEmail, displayName: ownerDisplayName };
    return claimFields(await createOrganization(call, { organizationName, owner, withToken: false }));
  },
});
