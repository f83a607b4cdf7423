import { z } from 'zod';
import { type Address, addressKey, formatAddress, parseAddress } from '../../../mail/message/address.ts';
import { accountByKey } from '../../../mail/store/account.ts';
import { nameInLetters } from '../../agents/told-outside.ts';
import { publicId, rowId } from '../../ids.ts';
import { findOrganization } from '../../organizations/commands.ts';
import { prepareConfirmation } from '../../sending/confirmation.ts';
import { asksConfirmation, type Confirmation } from '../../sending/confirmation-commands.ts';
import {
  type Forwarder,
  listForwarders,
  MOST_FORWARDS,
  removeForwarder,
  setForwarder,
} from '../../sending/forwarder-commands.ts';
import { mailboxesBehind } from '../about.ts';
import { agentOf } from '../caller.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf, Line, nextCursor, Page, pageOf } from '../schemas.ts';
import { domainOf, mailboxOf, withinMailbox } from '../scope.ts';

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

const PENDING =
  'Nothing is forwarded yet: the policy of this organization wants the destination to open the link that was mailed to it.';
const WARNING =
  'Forwarded mail keeps its author in From and comes from this server, so a destination that is strict about SPF may refuse it.';

export const setEmailForwarder = operation({
  name: 'set_email_forwarder',
  title: 'Forward an address',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Forwards mail for sourceAddress, on a domain of this organization, to destinationAddress; mail leaves the box. With a mailbox there and keepLocalCopy (default true) it is delivered locally too. Repeating it changes keepLocalCopy, or mails a pending one its link anew. Loops are refused.',
  hints: { idempotent: true, openWorld: true },
  rule: (call, { sourceAddress }) => mailboxesBehind(call, sourceAddress),
  tellsOutside: async (call, given) => [given.sourceAddress, given.destinationAddress, await nameInLetters(call)],
  input: z.strictObject({
    organizationId: Id('organization').optional(),
    sourceAddress: Line(3, 320),
    destinationAddress: Line(3, 320),
    keepLocalCopy: z.boolean().default(true),
  }),
  output: z.object({ forwarder: Shown, warnings: z.array(z.string()) }),
  rest: { method: 'POST', path: '/api/email/forwarders' },
  async run(call, { sourceAddress, destinationAddress, keepLocalCopy }) {
    const source = strict(sourceAddress, 'sourceAddress');
    const destination = strict(destinationAddress, 'destinationAddress');
    if (source.local.includes('+')) {
      refuse('invalid_arguments', 'Forward the address without its +tag: mail to every tag of it follows.', {
        issues: [{ path: 'sourceAddress', message: 'has a +tag' }],
      });
    }
    const domain = await domainOf(call, { domain: source.domain });
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
        return refuse('forwarder_loop', 'This forward would send mail round in a circle; forward to another address.', {
          path: await ownPart(call, done.path),
        });
      case 'full':
        return refuse(
          'conflict',
          `This organization has ${MOST_FORWARDS} forwards, as many as it may: remove one first.`,
          {
            resource: 'forwarder',
          },
        );
      case 'asks':
        return refuse('conflict', 'The forwarding policy has just been changed: try again.', { resource: 'forwarder' });
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

/** What asks the destination, where the policy wants that. */
async function confirmationFor(call: Call, source: Address, destination: Address): Promise<Confirmation | null> {
  const asked = { organization: call.tenant, domain: destination.domain };
  if (!(await call.store.read(asksConfirmation, asked))) return null;
  const organization = (await call.store.read(findOrganization, { id: call.tenant })) ?? notFound('organization');
  const made = await prepareConfirmation(call, { organization: organization.name, source, destination });
  return (
    made ??
    refuse('invalid_arguments', 'destinationAddress cannot be mailed a link.', {
      issues: [{ path: 'destinationAddress', message: 'cannot be mailed a link' }],
    })
  );
}

function tooManyLetters(waitMs: number): never {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return refuse('rate_limited', `This destination had its letters for today: try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
    scope: 'email',
  });
}

/** The circle without the addresses of other organizations, which are nobody's business here. */
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
 * A token for some mailboxes only may forward these and nothing else; and whoever may use a domain may not yet read a
 * mailbox on it that belongs to another project.
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
    organizationId: Id('organization').optional(),
    sourceAddress: Line(3, 320).optional(),
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

/** What a limited token may see of them. */
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
    'Removes one forward, named by forwarderId or by both its addresses; mail for its source is forwarded no more.',
  hints: { destructive: true, idempotent: true },
  rule: async (call, given) => mailboxesBehind(call, (await forwarderOf(call, given)).source),
  input: z.strictObject({
    forwarderId: Id('forwarder').optional(),
    sourceAddress: Line(3, 320).optional(),
    destinationAddress: Line(3, 320).optional(),
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

/** The forward that is meant; only one of this organization and within the token's limits. */
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
    return refuse('invalid_arguments', 'Say which forward: forwarderId, or sourceAddress and destinationAddress.', {
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
