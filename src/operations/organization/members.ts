import { publicId, rowId } from '../../core/ids.ts';
import { plainName, ownerAddress, hashedAddress } from '../../notices/owners.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { formatAddress } from '../../../mail/message/address.ts';
import { nameInNotices } from '../../agents/outside-secrets.ts';
import { claimNotice } from '../../bootstrap/claim-notice.ts';
import { resendClaim } from '../../bootstrap/commands.ts';
import { newLink } from '../../bootstrap/bootstrap.ts';
import { endingMemberMail } from '../../webmail-sessions/end-member-mail.ts';
import { composeNotice } from '../../notices/compose.ts';
import { secretUrl } from '../../notices/secret-pages.ts';
import { findOrganization } from '../../organizations/commands.ts';
import {
  inviteMember,
  listMembers,
  type OrganizationMember,
  pendingOwner,
  removeMember,
  updateMember,
} from '../../people/member-commands.ts';
import { secretHash } from '../../core/token.ts';
import { noMailboxes, mailboxRows } from '../affected-mailboxes.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, Line } from '../../core/schemas.ts';
import { mailboxOf } from '../scope.ts';
import { onlyOwners } from './only-owners.ts';

/** Act that only owners may do, for the error. */
const OWNERS = 'create, change or remove owners';

const INVITE_DAYS = 7;
const DAY = 86_400_000;

export const listOrganizationMembers = operation({
  name: 'list_members',
  title: 'List members',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  description: 'Lists the people of this organization, pending ones included, with their roles. Changes nothing.',
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
  description: 'Mails a person a link, valid for 7 days, to join this organization as admin or member.',
  hints: { openWorld: true },
  rule: noMailboxes,
  writesToStrangers: 'always',
  outgoingTexts: async (call, { email }) => [email, await nameInNotices(call)],
  input: z.strictObject({
    email: Line(3, 320).describe('Mail address'),
    role: z.enum(['admin', 'member']).describe('Role'),
  }),
  output: z.object({ invited: z.literal(true), email: z.string(), role: z.string(), expiresAt: z.string() }),
  async run(call, { email, role }) {
    const owner = ownerAddress(email) ?? badAddress();
    const secret = randomBytes(24).toString('hex');
    const organization = (await call.store.read(findOrganization, { id: call.tenant })) ?? notFound('organization');
    const url = secretUrl(call.baseUrl, 'invite', { token: secret });
    const notice = await composeNotice(call, {
      kind: 'invitation',
      to: owner.address,
      subject: `Join ${plainName(organization.name)} on ${call.settings.hostname}`,
      text: [
        'Hello,',
        '',
        `you are invited to the organization "${plainName(organization.name)}" on the mail server ${call.settings.hostname}.`,
        `To join it, open this page within ${INVITE_DAYS} days:`,
        '',
        url,
        '',
        'If you did not expect this invitation, ignore it.',
      ].join('\r\n'),
    });
    if (call.caller.kind === 'token' && (notice.here.length > 0 || (notice.onward ?? []).length > 0))
      onlyByPerson(call);
    const expiresAt = call.clock() + INVITE_DAYS * DAY;
    const written = formatAddress(owner.address);
    const input = {
      organization: call.tenant,
      email: written,
      role,
      hash: secretHash(secret),
      expiresAt,
      notice,
      base: hashedAddress(owner.base),
    };
    const done = await call.change(inviteMember, input, written, { role });
    if (done.kind === 'limited') tooManyLetters(done.waitMs);
    call.queueChanged();
    return { invited: true as const, email: written, role, expiresAt: isoOf(expiresAt) };
  },
});

export const updateOrganizationMember = operation({
  name: 'update_member',
  title: 'Update a member',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description:
    "Changes a person's role, or a member's mailboxes, from their next request on. Only owners create or change owners; the last owner stays.",
  hints: { idempotent: true },
  rule: (_call, { mailboxIds = [] }) => mailboxRows(mailboxIds),
  input: z.strictObject({
    userId: Id('user'),
    role: z.enum(['owner', 'admin', 'member']).describe('New role').optional(),
    mailboxIds: z.array(Id('mailbox')).max(100).describe('Mailboxes of a member').optional(),
  }),
  output: z.object({ userId: z.string(), updated: z.literal(true) }),
  async run(call, { userId, role, mailboxIds }) {
    const user = rowId('user', userId) ?? notFound('member');
    const member = await memberOf(call, user);
    if (role === 'owner' || (member.role === 'owner' && role !== undefined)) onlyOwners(call, OWNERS);
    const boxes = mailboxIds && (await Promise.all(mailboxIds.map((mailboxId) => mailboxOf(call, { mailboxId }))));
    const mailboxes = boxes?.map((one) => one.id) ?? null;
    const input = { organization: call.tenant, user, role: role ?? null, mailboxes };
    const detail = { ...(role !== undefined && { role }), ...(mailboxIds !== undefined && { mailboxIds }) };
    const done = await endingMemberMail(call, user, () => call.change(updateMember, input, userId, detail));
    switch (done.kind) {
      case 'updated':
        return { userId, updated: true as const };
      case 'last-owner':
        return refuse('conflict', 'This is the last owner: make somebody else an owner first.', { resource: 'member' });
      case 'missing':
        return notFound('member');
    }
  },
});

async function memberOf({ store, tenant }: Call, user: number): Promise<OrganizationMember> {
  const all = await store.read(listMembers, { organization: tenant });
  return all.find((one) => one.user === user) ?? notFound('member');
}

export const removeOrganizationMember = operation({
  name: 'remove_member',
  title: 'Remove a member',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description:
    'Removes a person from this organization; their login and other organizations stay. The last owner cannot be removed.',
  hints: { destructive: true, idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({ userId: Id('user') }),
  output: z.object({ removed: z.literal(true), userId: z.string() }),
  async run(call, { userId }) {
    const user = rowId('user', userId) ?? notFound('member');
    if ((await memberOf(call, user)).role === 'owner' && call.caller.user?.id !== user) onlyOwners(call, OWNERS);
    const input = { organization: call.tenant, user };
    const done = await endingMemberMail(call, user, () => call.change(removeMember, input, userId));
    switch (done.kind) {
      case 'removed':
        return { removed: true as const, userId };
      case 'last-owner':
        return refuse('conflict', 'This is the last owner: make somebody else an owner first.', { resource: 'member' });
      case 'missing':
        return notFound('member');
    }
  },
});

export const resendClaimLink = operation({
  name: 'resend_claim_link',
  title: 'Resend the claim link',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description:
    'Mails the pending human owner of this organization a new claim link, valid for 14 days. At most 5 a day.',
  hints: { openWorld: true },
  outgoingTexts: async (call) => [await nameInNotices(call)],
  input: z.strictObject({}),
  output: z.object({ emailSent: z.literal(true) }),
  async run(call) {
    const pending = await call.store.read(pendingOwner, { organization: call.tenant });
    const owner = pending && ownerAddress(pending.email);
    if (pending === undefined || owner === undefined) {
      return refuse('conflict', 'This organization has no pending human owner.', { resource: 'claim link' });
    }
    const { url, hash } = newLink(call);
    const notice = await composeNotice(
      call,
      claimNotice(owner.address, pending.organization, url, call.settings.hostname),
    );
    const input = { organization: call.tenant, base: hashedAddress(owner.base), hash, notice };
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

/**
 * Refuses invitations to hosted addresses by tokens: an agent that reads the invitation could sign in as a person and
 * approve its own requests.
 */
function onlyByPerson({ caller }: Call): never {
  refuse(
    'action_not_allowed',
    'This address is a mailbox on this server: only a person can invite it, in the portal.',
    {
      requiredAction: 'person',
      grantedActions: [...caller.actions],
    },
  );
}

function tooManyLetters(waitMs: number): never {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return refuse(
    'rate_limited',
    `Daily limit of letters reached for this address: try again in ${retryAfterSeconds} s.`,
    {
      retryAfterSeconds,
      scope: 'email',
    },
  );
}

function badAddress(): never {
  return refuse('invalid_arguments', 'email must be a mail address such as ann@example.com.', {
    issues: [{ path: 'email', message: 'is not a mail address' }],
  });
}
