import { publicId } from '../core/ids.ts';
import { inNetworks } from '../core/networks.ts';
import type { Call } from '../core/operation.ts';
import { isoOf } from '../core/schemas.ts';
import { ALL_ACTIONS, makeToken, secretHash, shownPart } from '../core/token.ts';
import { ownerAddress, hashedAddress } from '../notices/owners.ts';
import { formatAddress } from '../../mail/message/address.ts';
import { networkOf } from '../../mail/guard/network.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { composeNotice } from '../notices/compose.ts';
import { secretUrl } from '../notices/secret-pages.ts';
import { refuse } from '../core/refusal.ts';
import { claimNotice } from './claim-notice.ts';
import { type Bootstrap, bootstrapOrganization, type BootstrapResult } from './commands.ts';
import { randomBytes } from 'node:crypto';

export interface BootstrapRequest {
  organizationName: string;
  owner?: { email: string; displayName: string | undefined };
  /** Returns a token of the new organization. */
  withToken: boolean;
}

export interface BootstrapResponse {
  organization: { id: string; slug: string; name: string };
  ownerUserId?: string;
  claimUrl?: string;
  claimExpiresAt?: string;
  emailSent?: boolean;
  token?: string;
}

/** Creates an organization, for both bootstrap tools and the REST endpoint. */
export async function createOrganization(call: Call, request: BootstrapRequest): Promise<BootstrapResponse> {
  const { caller, settings, store } = call;
  if (!isOpenTo(caller, settings.bootstrap)) refuseClosed(settings.bootstrap);
  const claim =
    request.owner === undefined ? undefined : await pendingClaim(call, request.owner, request.organizationName);
  const token = request.withToken ? makeToken(settings.tokenPrefix) : undefined;
  const { actor, actorName, way, ip } = caller;
  const operation = request.owner === undefined ? 'create_own_organization' : 'create_account_and_claim_link';
  const counted = caller.kind !== 'operator' && !inNetworks(ip, settings.exemptNetworks);
  const done = await store.write(bootstrapOrganization, {
    organization: { name: request.organizationName, origin: request.owner === undefined ? 'own' : 'claim', ip },
    network: counted ? networkOf(ip) : null,
    owner: claim?.owner ?? null,
    token: token === undefined ? null : { hash: secretHash(token), shown: shownPart(token), actions: [...ALL_ACTIONS] },
    entry: { actor, actorName, way, ip, operation, detail: {} },
    requestedIn: caller.organization ?? null,
  });
  if (done.kind === 'limited') return refuseLimited(done);
  if (done.emailSent) call.queueChanged();
  return bootstrapResponse(done, claim?.url, token);
}

/** The operator may create organizations in every mode. */
function isOpenTo({ kind, organization }: Call['caller'], mode: Call['settings']['bootstrap']): boolean {
  if (mode === 'open' || kind === 'operator' || organization === OPERATOR) return true;
  return mode === 'invite' && kind !== 'anonymous';
}

function refuseClosed(mode: string): never {
  const how = mode === 'invite' ? 'only holders of a token may create one' : 'creating organizations is disabled';
  return refuse('action_not_allowed', `This server does not accept new organizations: ${how}. Ask its operator.`);
}

function refuseLimited({ scope, waitMs }: BootstrapResult & { kind: 'limited' }): never {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const why = {
    ip: 'Too many organizations were created from this network address in the last hour',
    box: 'Too many organizations were created on this box today',
    email: 'An organization was created for this mail address in the last 24 hours',
  }[scope];
  return refuse('rate_limited', `${why}: try again in ${retryAfterSeconds} s.`, { retryAfterSeconds, scope });
}

/** Creates the pending owner's two claim links with different secrets: only the mailed one verifies the address. */
async function pendingClaim(
  call: Call,
  { email, displayName }: { email: string; displayName: string | undefined },
  organization: string,
): Promise<{ owner: NonNullable<Bootstrap['owner']>; url: string }> {
  const { address, key, base } = ownerAddress(email) ?? refuseAddress();
  const [returned, mailed] = [newLink(call), newLink(call)];
  const notice = await composeNotice(call, claimNotice(address, organization, mailed.url, call.settings.hostname));
  return {
    url: returned.url,
    owner: {
      email: formatAddress(address),
      key,
      displayName: displayName ?? null,
      subject: hashedAddress(key),
      base: hashedAddress(base),
      returned: returned.hash,
      mailed: mailed.hash,
      notice,
    },
  };
}

function refuseAddress(): never {
  return refuse('invalid_arguments', 'ownerEmail is not a mail address.', {
    issues: [{ path: 'ownerEmail', message: 'is not a mail address' }],
  });
}

/** Creates a claim link; the secret in its URL is stored only as a hash. */
export function newLink({ baseUrl }: Pick<Call, 'baseUrl'>): { url: string; hash: Buffer } {
  const secret = randomBytes(24).toString('hex');
  return { url: secretUrl(baseUrl, 'claim', { token: secret }), hash: secretHash(secret) };
}

function bootstrapResponse(
  done: BootstrapResult & { kind: 'made' },
  claimUrl: string | undefined,
  token: string | undefined,
): BootstrapResponse {
  const { organization, user, emailSent, claimExpiresAt } = done;
  return {
    organization: { ...organization, id: publicId('organization', organization.id) },
    ...(user !== null && {
      ownerUserId: publicId('user', user),
      claimExpiresAt: isoOf(claimExpiresAt),
      emailSent,
    }),
    ...(claimUrl !== undefined && { claimUrl }),
    ...(token !== undefined && { token }),
  };
}
