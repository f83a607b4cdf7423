import { formatAddress } from '../../mail/message/address.ts';
import { networkOf } from '../../mail/guard/network.ts';
import { OPERATOR } from '../../mail/store/account.ts';
import { publicId } from '../ids.ts';
import { prepareLetter } from '../letters/letter.ts';
import { secretUrl } from '../letters/secret-pages.ts';
import { inNetworks } from '../networks.ts';
import type { Call } from '../operations/operation.ts';
import { refuse } from '../operations/refusal.ts';
import { isoOf } from '../operations/schemas.ts';
import { ALL_ACTIONS, makeToken, secretHash, shownPart } from '../tokens/token.ts';
import { claimLetter, ownerAddress, subjectOf } from './claim-letter.ts';
import { type Bootstrap, bootstrapOrganization, type Bootstrapped } from './commands.ts';
import { randomBytes } from 'node:crypto';

export interface Wanted {
  organizationName: string;
  owner?: { email: string; displayName: string | undefined };
  /** Answer with a token of the new organization. */
  withToken: boolean;
}

export interface Made {
  organization: { id: string; slug: string; name: string };
  ownerUserId?: string;
  claimUrl?: string;
  claimExpiresAt?: string;
  emailSent?: boolean;
  token?: string;
}

/** Makes an organization for whoever asks: the one body of both bootstrap tools and of the REST endpoint. */
export async function makeOrganization(call: Call, wanted: Wanted): Promise<Made> {
  const { caller, settings, store } = call;
  if (!isOpenTo(caller, settings.bootstrap)) closed(settings.bootstrap);
  const claim = wanted.owner === undefined ? undefined : await claimOf(call, wanted.owner, wanted.organizationName);
  const token = wanted.withToken ? makeToken(settings.tokenPrefix) : undefined;
  const { actor, actorName, way, ip } = caller;
  const operation = wanted.owner === undefined ? 'create_own_organization' : 'create_account_and_claim_link';
  const counted = caller.kind !== 'operator' && !inNetworks(ip, settings.exemptNetworks);
  const done = await store.write(bootstrapOrganization, {
    organization: { name: wanted.organizationName, origin: wanted.owner === undefined ? 'own' : 'claim', ip },
    network: counted ? networkOf(ip) : null,
    owner: claim?.owner ?? null,
    token: token === undefined ? null : { hash: secretHash(token), shown: shownPart(token), actions: [...ALL_ACTIONS] },
    entry: { actor, actorName, way, ip, operation, detail: {} },
    askedIn: caller.organization ?? null,
  });
  if (done.kind === 'limited') return limited(done);
  if (done.emailSent) call.queueChanged();
  return shown(done, claim?.url, token);
}

/** The operator makes organizations whatever strangers may. */
function isOpenTo({ kind, organization }: Call['caller'], mode: Call['settings']['bootstrap']): boolean {
  if (mode === 'open' || kind === 'operator' || organization === OPERATOR) return true;
  return mode === 'invite' && kind !== 'anonymous';
}

function closed(mode: string): never {
  const how = mode === 'invite' ? 'only who holds a token may create one' : 'creation is switched off';
  return refuse('action_not_allowed', `This box takes no new organizations like this: ${how}. Ask its operator.`);
}

function limited({ scope, waitMs }: Bootstrapped & { kind: 'limited' }): never {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const why = {
    ip: 'Too many organizations were created from this network address in the last hour',
    box: 'Too many organizations were created on this box today',
    email: 'An organization was created for this mail address in the last 24 hours',
  }[scope];
  return refuse('rate_limited', `${why}: try again in ${retryAfterSeconds} s.`, { retryAfterSeconds, scope });
}

/** The pending owner with two links that are different tokens: only the mailed one proves the address. */
async function claimOf(
  call: Call,
  { email, displayName }: { email: string; displayName: string | undefined },
  organization: string,
): Promise<{ owner: NonNullable<Bootstrap['owner']>; url: string }> {
  const { address, key, base } = ownerAddress(email) ?? notAnAddress();
  const [returned, mailed] = [newLink(call), newLink(call)];
  const letter = await prepareLetter(call, claimLetter(address, organization, mailed.url, call.settings.hostname));
  return {
    url: returned.url,
    owner: {
      email: formatAddress(address),
      key,
      displayName: displayName ?? null,
      subject: subjectOf(key),
      base: subjectOf(base),
      returned: returned.hash,
      mailed: mailed.hash,
      letter,
    },
  };
}

function notAnAddress(): never {
  return refuse('invalid_arguments', 'ownerEmail is not a mail address.', {
    issues: [{ path: 'ownerEmail', message: 'is not a mail address' }],
  });
}

/** A new claim link: what its URL carries is only ever stored as a hash. */
export function newLink({ baseUrl }: Pick<Call, 'baseUrl'>): { url: string; hash: Buffer } {
  const secret = randomBytes(24).toString('hex');
  return { url: secretUrl(baseUrl, 'claim', { token: secret }), hash: secretHash(secret) };
}

function shown(done: Bootstrapped & { kind: 'made' }, claimUrl: string | undefined, token: string | undefined): Made {
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
