import { z } from 'zod';
import { type Address, addressKey, formatAddress, parseAddress } from '../../../mail/message/address.ts';
import { accountByKey } from '../../../mail/store/account/account.ts';
import { nameInNotices } from '../../agents/outside-secrets.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { findOrganization } from '../../organizations/commands.ts';
import {
  forwardNeedsConfirmation,
  type ForwardConfirmation,
  CONFIRM_DAYS,
} from '../../sending/confirmation-commands.ts';
import {
  type Forwarder,
  listForwarders,
  MAX_FORWARDS,
  removeForwarder,
  setForwarder,
} from '../../sending/forwarder-commands.ts';
import { mailboxesBehind } from '../affected-mailboxes.ts';
import { agentOf } from '../../core/caller.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, Line, nextCursor, Page, pageOf, OwnOrganization } from '../../core/schemas.ts';
import { findOwnDomain, mailboxOf, withinMailbox } from '../scope.ts';
import type { AreaContext } from '../../core/area-context.ts';
import { plainName, ownerAddress, hashedAddress } from '../../notices/owners.ts';
import { composeNotice } from '../../notices/compose.ts';
import { secretUrl } from '../../notices/secret-pages.ts';
import { newSecret } from '../../people/secrets.ts';

const Shown = z.object({
  id: z.string(),
  organizationId: z.string(),
  sourceAddress: z.string(),
  destinationAddress: z.string(),
  keepLocalCopy: z.boolean(),
  mode: z.enum(['local_and_relay', 'forward_only']),
  state: z.enum(['active', 'pending']),
  createdAt: z.string(),
});

const PENDING = "Inactive: this organization's policy requires the destination to open the mailed link first.";
const WARNING =
  'Forwarded mail keeps its From address and is sent from this server, so a destination that enforces SPF may reject it.';

export const setEmailForwarder = operation({
  name: 'set_email_forwarder',
  title: 'Forward an address',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Forwards mail for sourceAddress, on a domain of this organization, to destinationAddress, which may be outside. If a mailbox exists there, keepLocalCopy also delivers locally. Repeating it updates keepLocalCopy, or resends the link of a pending one. Loops are refused.',
  hints: { idempotent: true, openWorld: true },
  rule: (call, { sourceAddress }) => mailboxesBehind(call, sourceAddress),
  outgoingTexts: async (call, given) => [given.sourceAddress, given.destinationAddress, await nameInNotices(call)],
  input: z.strictObject({
    organizationId: OwnOrganization,
    sourceAddress: Line(3, 320).describe('Address here'),
    destinationAddress: Line(3, 320).describe('Target address'),
    keepLocalCopy: z.boolean().default(true).describe('Also deliver to its mailbox'),
  }),
  output: z.object({ forwarder: Shown, warnings: z.array(z.string()) }),
  rest: { method: 'POST', path: '/api/email/forwarders' },
  async run(call, { sourceAddress, destinationAddress, keepLocalCopy }) {
    const source = strict(sourceAddress, 'sourceAddress');
    const destination = strict(destinationAddress, 'destinationAddress');
    if (source.local.includes('+')) {
      refuse('invalid_arguments', 'Forward the address without +tag: its tags are included.', {
        issues: [{ path: 'sourceAddress', message: 'has a +tag' }],
      });
    }
    const domain = await findOwnDomain(call, { domain: source.domain });
    await withinLimits(call, source);
    const row = {
      organization: call.tenant,
      domain: domain.id,
      source: formatAddress(source),
      sourceKey: addressKey(source),
      destination: formatAddress(destination),
      destinationKey: addressKey(destination),
      keepLocal: keepLocalCopy,
      confirmation: await confirmationFor(call, source, destination),
      by: agentOf(call.caller),
    };
    const done = await call.change(setForwarder, row, row.source, { destination: row.destination, keepLocalCopy });
    switch (done.kind) {
      case 'missing':
        return notFound('domain');
      case 'loop':
        return refuse('forwarder_loop', 'This forward would create a mail loop: choose another destination.', {
          path: await ownPart(call, done.path),
        });
      case 'full':
        return refuse('conflict', `Limit reached: this organization has ${MAX_FORWARDS} forwards. Remove one first.`, {
          resource: 'forwarder',
        });
      case 'asks':
        return refuse('conflict', 'The forwarding policy was just changed: try again.', { resource: 'forwarder' });
      case 'limited':
        return tooManyLetters(done.waitMs);
      case 'set': {
        call.queueChanged();
        const [made] = (await call.store.read(listForwarders, { organization: call.tenant })).filter(
          (one) => one.id === done.id,
        );
        if (made === undefined) return notFound('forwarder');
        return { forwarder: shown(made), warnings: made.pending ? [PENDING, WARNING] : [WARNING] };
      }
    }
  },
});

/** Creates the confirmation of the destination, if the policy requires it. */
async function confirmationFor(call: Call, source: Address, destination: Address): Promise<ForwardConfirmation | null> {
  const request = { organization: call.tenant, domain: destination.domain };
  if (!(await call.store.read(forwardNeedsConfirmation, request))) return null;
  const organization = (await call.store.read(findOrganization, { id: call.tenant })) ?? notFound('organization');
  const made = await prepareConfirmation(call, { organization: organization.name, source, destination });
  return (
    made ??
    refuse('invalid_arguments', 'destinationAddress cannot receive the confirmation link: use another address.', {
      issues: [{ path: 'destinationAddress', message: 'cannot receive the confirmation link' }],
    })
  );
}

function tooManyLetters(waitMs: number): never {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return refuse(
    'rate_limited',
    `Daily confirmation limit reached for this address: try again in ${retryAfterSeconds} s.`,
    {
      retryAfterSeconds,
      scope: 'email',
    },
  );
}

/** Returns the loop without addresses of other organizations. */
async function ownPart(call: Call, path: readonly string[]): Promise<string[]> {
  const own = new Set(
    (await call.store.read(listForwarders, { organization: call.tenant })).flatMap((one) => [
      one.sourceKey,
      one.destinationKey,
    ]),
  );
  return path.filter((key, i) => i < 2 || i === path.length - 1 || own.has(key));
}

/**
 * Checks the source: a token for some mailboxes may forward only these, and access to a domain does not include
 * mailboxes of other projects on it.
 */
async function withinLimits(call: Call, source: Address): Promise<void> {
  const there = await call.store.read(accountByKey, { tenant: call.tenant, key: addressKey(source) });
  if (there !== undefined || call.caller.mailboxes !== null) await mailboxOf(call, { address: formatAddress(source) });
}

function strict(text: string, path: string): Address {
  const address = parseAddress(text);
  if (address !== undefined && !address.domain.startsWith('[')) return address;
  return refuse('invalid_arguments', `${path} is not a mail address.`, {
    issues: [{ path, message: 'is not a mail address' }],
  });
}

export const listEmailForwarders = operation({
  name: 'list_email_forwarders',
  title: 'List forwards',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  description: 'Lists the forwards of this organization. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    organizationId: OwnOrganization,
    sourceAddress: Line(3, 320).describe('Address here').optional(),
    ...Page,
  }),
  output: z.object({ forwarders: z.array(Shown), nextCursor }),
  rest: { method: 'GET', path: '/api/email/forwarders' },
  async run(call, { sourceAddress, cursor, limit }) {
    const key = sourceAddress === undefined ? undefined : addressKey(strict(sourceAddress, 'sourceAddress'));
    const mine = (await visible(call)).filter((one) => key === undefined || one.sourceKey === key);
    const page = pageOf(mine, { cursor, limit });
    return { forwarders: page.rows.map(shown), nextCursor: page.nextCursor };
  },
});

/** Returns the forwards that a limited token may see. */
async function visible(call: Call): Promise<Forwarder[]> {
  const { project, mailboxes } = call.caller;
  const all = await call.store.read(listForwarders, { organization: call.tenant });
  return all.filter(
    (one) =>
      (project === null || one.project === project) &&
      (mailboxes === null || (one.mailbox !== null && mailboxes.includes(one.mailbox))),
  );
}

export const removeEmailForwarder = operation({
  name: 'remove_email_forwarder',
  title: 'Remove a forward',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Removes one forward, given by forwarderId or by both addresses; mail for its source is no longer forwarded.',
  hints: { destructive: true, idempotent: true },
  rule: async (call, given) => mailboxesBehind(call, (await forwarderOf(call, given)).source),
  input: z.strictObject({
    forwarderId: Id('forwarder').optional(),
    sourceAddress: Line(3, 320).describe('Address here').optional(),
    destinationAddress: Line(3, 320).describe('Target address').optional(),
  }),
  output: z.object({ removed: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/forwarders/:forwarderId' },
  async run(call, given) {
    const found = await forwarderOf(call, given);
    const input = { organization: call.tenant, id: found.id, by: agentOf(call.caller) };
    const done = await call.change(removeForwarder, input, found.source, { destination: found.destination });
    if (done.kind === 'missing') return notFound('forwarder');
    return { removed: true as const };
  },
});

interface GivenForwarder {
  forwarderId?: string | undefined;
  sourceAddress?: string | undefined;
  destinationAddress?: string | undefined;
}

/** Finds a forward, within the organization and the token's limits. */
async function forwarderOf(call: Call, given: GivenForwarder): Promise<Forwarder> {
  const found = named(await call.store.read(listForwarders, { organization: call.tenant }), given);
  if (found === undefined) return notFound('forwarder');
  withinMailbox(call, { id: found.mailbox ?? 0, project: found.project ?? 0 });
  return found;
}

function named(all: readonly Forwarder[], given: GivenForwarder): Forwarder | undefined {
  if (given.forwarderId !== undefined) return all.find((one) => one.id === rowId('forwarder', given.forwarderId ?? ''));
  const { sourceAddress, destinationAddress } = given;
  if (sourceAddress === undefined || destinationAddress === undefined) {
    return refuse('invalid_arguments', 'Give forwarderId, or sourceAddress and destinationAddress.', {
      issues: [{ path: 'forwarderId', message: 'missing' }],
    });
  }
  const source = addressKey(strict(sourceAddress, 'sourceAddress'));
  const destination = addressKey(strict(destinationAddress, 'destinationAddress'));
  return all.find((one) => one.sourceKey === source && one.destinationKey === destination);
}

function shown(row: Forwarder): z.output<typeof Shown> {
  return {
    id: publicId('forwarder', row.id),
    organizationId: publicId('organization', row.organization),
    sourceAddress: row.source,
    destinationAddress: row.destination,
    keepLocalCopy: row.keepLocal,
    mode: row.mailbox === null ? 'forward_only' : 'local_and_relay',
    state: row.pending ? 'pending' : 'active',
    createdAt: isoOf(row.createdAt),
  };
}

interface ConfirmationRequest {
  /** Name chosen by the organization, shown to strangers. */
  organization: string;
  source: Address;
  destination: Address;
}

/** Composes the confirmation request to a destination. Undefined if its address cannot receive it. */
async function prepareConfirmation(
  world: AreaContext,
  request: ConfirmationRequest,
): Promise<ForwardConfirmation | undefined> {
  const { organization, source, destination } = request;
  const { hostname } = world.settings;
  const owner = ownerAddress(formatAddress(destination));
  if (owner === undefined) return undefined;
  const { secret, hash } = newSecret();
  const notice = await composeNotice(world, {
    kind: 'forward-confirmation',
    to: destination,
    subject: `Confirm forwarding of mail for ${formatAddress(source)}`,
    text: [
      'Hello,',
      '',
      `the organization "${plainName(organization)}" on the mail server ${hostname} wants to forward all mail for`,
      `${formatAddress(source)} to this address.`,
      `To accept, open this page within ${CONFIRM_DAYS} days and confirm:`,
      '',
      secretUrl(world.baseUrl, 'forward', { token: secret }),
      '',
      'If you do not want this, do nothing: no mail is forwarded to you.',
      '',
      `Mailstead on ${hostname}`,
    ].join('\r\n'),
  });
  return { hash, notice, base: hashedAddress(owner.base) };
}
