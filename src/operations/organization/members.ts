import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { formatAddress } from '../../../mail/message/address.ts';
import { nameInLetters } from '../../agents/told-outside.ts';
import { claimLetter, harmless, ownerAddress, subjectOf } from '../../bootstrap/claim-letter.ts';
import { resendClaim } from '../../bootstrap/commands.ts';
import { newLink } from '../../bootstrap/bootstrap.ts';
import { publicId, rowId } from '../../ids.ts';
import { prepareLetter } from '../../letters/letter.ts';
import { secretUrl } from '../../letters/secret-pages.ts';
import { findOrganization } from '../../organizations/commands.ts';
import {
  inviteMember,
  listMembers,
  type Member,
  pendingOwner,
  removeMember,
  updateMember,
} from '../../people/member-commands.ts';
import { secretHash } from '../../tokens/token.ts';
import { noMailbox, rowsOf } from '../about.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf, Line } from '../schemas.ts';
import { mailboxOf } from '../scope.ts';

const INVITE_DAYS = 7;
const DAY = 86_400_000;

export const listOrganizationMembers = operation({
  name: 'list_members',
  title: 'List members',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  description: 'Lists the people of this organization, pending ones too, with their roles. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    members: z.array(
      z.object({
        userId: z.string(),
        email: z.string(),
        displayName: z.string().nullable(),
        role: z.enum(['owner', 'admin', 'member']),
        status: z.enum(['active', 'pending']),
        addressProven: z.boolean(),
        mailboxIds: z.array(z.string()),
        since: z.string(),
      }),
    ),
  }),
  async run({ store, tenant }) {
    const members = await store.read(listMembers, { organization: tenant });
    return {
      members: members.map((one) => ({
        userId: publicId('user', one.user),
        email: one.email,
        displayName: one.displayName,
        role: one.role,
        status: one.active ? ('active' as const) : ('pending' as const),
        addressProven: one.addressProvenAt !== null,
        mailboxIds: one.mailboxes.map((id) => publicId('mailbox', id)),
        since: isoOf(one.since),
      })),
    };
  },
});

export const inviteOrganizationMember = operation({
  name: 'invite_member',
  title: 'Invite a person',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description:
    'Mails a person a link, good for 7 days, by which they join this organization as admin or member. Sends one mail.',
  hints: { openWorld: true },
  rule: noMailbox,
  writesToStrangers: true,
  tellsOutside: async (call, { email }) => [email, await nameInLetters(call)],
  input: z.strictObject({ email: Line(3, 320), role: z.enum(['admin', 'member']) }),
  output: z.object({ invited: z.literal(true), email: z.string(), role: z.string(), expiresAt: z.string() }),
  async run(call, { email, role }) {
    const owner = ownerAddress(email) ?? badAddress();
    const secret = randomBytes(24).toString('hex');
    const organization = (await call.store.read(findOrganization, { id: call.tenant })) ?? notFound('organization');
    const url = secretUrl(call.baseUrl, 'invite', { token: secret });
    const letter = await prepareLetter(call, {
      to: owner.address,
      subject: `Join ${harmless(organization.name)} on ${call.settings.hostname}`,
      text: [
        'Hello,',
        '',
        `you are invited to the organization "${harmless(organization.name)}" on the mail server ${call.settings.hostname}.`,
        `To join it, open this page within ${INVITE_DAYS} days:`,
        '',
        url,
        '',
        'If you know nothing of this, do nothing.',
      ].join('\r\n'),
    });
    if (call.caller.kind === 'token' && (letter.here.length > 0 || (letter.onward ?? []).length > 0))
      onlyByPerson(call);
    const expiresAt = call.clock() + INVITE_DAYS * DAY;
    const written = formatAddress(owner.address);
    const input = {
      organization: call.tenant,
      email: written,
      role,
      hash: secretHash(secret),
      expiresAt,
      letter,
      base: subjectOf(owner.base),
    };
    const done = await call.change(inviteMember, input, written, { role });
    if (done.kind === 'limited') tooManyLetters(done.waitMs);
    call.queueChanged();
    return { invited: true as const, email: written, role, expiresAt: isoOf(expiresAt) };
  },
});

export const updateOrganizationMember = operation({
  name: 'update_member',
  title: 'Change what a person may',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description:
    'Gives a person of this organization another role, or as a member the mailboxes that are theirs; it holds from their next click on. Only owners make or change owners; the last owner stays one.',
  hints: { idempotent: true },
  rule: (_call, { mailboxIds = [] }) => rowsOf(mailboxIds),
  input: z.strictObject({
    userId: Id('user'),
    role: z.enum(['owner', 'admin', 'member']).optional(),
    mailboxIds: z.array(Id('mailbox')).max(100).optional(),
  }),
  output: z.object({ userId: z.string(), updated: z.literal(true) }),
  async run(call, { userId, role, mailboxIds }) {
    const user = rowId('user', userId) ?? notFound('member');
    const member = await memberOf(call, user);
    if (role === 'owner' || (member.role === 'owner' && role !== undefined)) onlyOwners(call);
    const boxes = mailboxIds && (await Promise.all(mailboxIds.map((mailboxId) => mailboxOf(call, { mailboxId }))));
    const mailboxes = boxes?.map((one) => one.id) ?? null;
    const input = { organization: call.tenant, user, role: role ?? null, mailboxes };
    const detail = { ...(role !== undefined && { role }), ...(mailboxIds !== undefined && { mailboxIds }) };
    const done = await call.change(updateMember, input, userId, detail);
    switch (done.kind) {
      case 'updated':
        return { userId, updated: true as const };
      case 'last-owner':
        return refuse('conflict', 'This is the last owner: make another one first.', { resource: 'member' });
      case 'missing':
        return notFound('member');
    }
  },
});

async function memberOf({ store, tenant }: Call, user: number): Promise<Member> {
  const all = await store.read(listMembers, { organization: tenant });
  return all.find((one) => one.user === user) ?? notFound('member');
}

/** An administrator, or an agent's token, cannot put itself above who owns the organization. */
function onlyOwners({ caller }: Call): void {
  if (caller.kind === 'operator' || caller.user?.role === 'owner' || caller.token?.owner === true) return;
  refuse('action_not_allowed', 'Only an owner of the organization may make, change or remove owners.', {
    requiredAction: 'owner',
    grantedActions: [...caller.actions],
  });
}

export const removeOrganizationMember = operation({
  name: 'remove_member',
  title: 'Remove a person',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description:
    'Takes a person out of this organization; their sign-in and other organizations stay. The last owner cannot be removed.',
  hints: { destructive: true, idempotent: true },
  rule: noMailbox,
  input: z.strictObject({ userId: Id('user') }),
  output: z.object({ removed: z.literal(true), userId: z.string() }),
  async run(call, { userId }) {
    const user = rowId('user', userId) ?? notFound('member');
    if ((await memberOf(call, user)).role === 'owner' && call.caller.user?.id !== user) onlyOwners(call);
    const done = await call.change(removeMember, { organization: call.tenant, user }, userId);
    switch (done.kind) {
      case 'removed':
        return { removed: true as const, userId };
      case 'last-owner':
        return refuse('conflict', 'This is the last owner: make another one first.', { resource: 'member' });
      case 'missing':
        return notFound('member');
    }
  },
});

export const resendClaimLink = operation({
  name: 'resend_claim_link',
  title: 'Mail the claim link again',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description:
    'Mails the pending human owner of this organization a new claim link, good for 14 days. Sends one mail; at most 5 a day.',
  hints: { openWorld: true },
  tellsOutside: async (call) => [await nameInLetters(call)],
  input: z.strictObject({}),
  output: z.object({ emailSent: z.literal(true) }),
  async run(call) {
    const pending = await call.store.read(pendingOwner, { organization: call.tenant });
    const owner = pending && ownerAddress(pending.email);
    if (pending === undefined || owner === undefined) {
      return refuse('conflict', 'This organization has no pending human owner.', { resource: 'claim link' });
    }
    const { url, hash } = newLink(call);
    const letter = await prepareLetter(
      call,
      claimLetter(owner.address, pending.organization, url, call.settings.hostname),
    );
    const input = { organization: call.tenant, base: subjectOf(owner.base), hash, letter };
    const done = await call.change(resendClaim, input, 'claim link');
    switch (done.kind) {
      case 'sent':
        call.queueChanged();
        return { emailSent: true as const };
      case 'limited':
        return tooManyLetters(done.waitMs);
      case 'claimed':
      case 'no-owner':
        return refuse('conflict', 'This organization has no pending human owner.', { resource: 'claim link' });
    }
  },
});

/** An agent that opened the letter in a mailbox here would be a person from then on, and approve what it asked for. */
function onlyByPerson({ caller }: Call): never {
  refuse('action_not_allowed', 'Mail for this address comes into a mailbox here: a person invites it in the portal.', {
    requiredAction: 'person',
    grantedActions: [...caller.actions],
  });
}

function tooManyLetters(waitMs: number): never {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return refuse('rate_limited', `This address had its letters for today: try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
    scope: 'email',
  });
}

function badAddress(): never {
  return refuse('invalid_arguments', 'email is not a mail address.', {
    issues: [{ path: 'email', message: 'is not a mail address' }],
  });
}
