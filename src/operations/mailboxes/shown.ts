import { overridesDirection, shownAddresses } from '../../../mail/message/shown-name.ts';
import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import { listOrganizationMailboxes, type MailboxLine } from '../../mailboxes/commands.ts';
import type { Call } from '../../core/operation.ts';
import { notFound } from '../../core/refusal.ts';
import { Id, isoOf, Line } from '../../core/schemas.ts';

/** A listed mailbox, without password. */
export const Mailbox = z.object({
  id: z.string(),
  address: z.string(),
  localPart: z.string(),
  domain: z.string(),
  domainId: z.string(),
  projectId: z.string(),
  displayName: z.string().nullable(),
  dnsStatus: z.enum(['verified', 'unverified']),
  sendingPaused: z.boolean(),
  attachedServiceIds: z.array(z.string()),
  quotaBytes: z.number().nullable(),
  usedBytes: z.number(),
  agentPolicyId: z.string().nullable(),
  hiddenImapCapabilities: z.array(z.string()),
  createdAt: z.string(),
});

/** Arguments that name a mailbox: `mailboxId`, or its address. */
export const MailboxArguments = {
  mailboxId: Id('mailbox').optional(),
  address: Line(1, 320).describe('Its address, instead of mailboxId').optional(),
};

export function shownMailbox(line: MailboxLine): z.output<typeof Mailbox> {
  return {
    id: publicId('mailbox', line.id),
    address: line.address,
    localPart: line.address.slice(0, line.address.lastIndexOf('@')),
    domain: line.domainName,
    domainId: publicId('domain', line.domain),
    projectId: publicId('project', line.project),
    displayName: line.displayName,
    dnsStatus: line.verified ? 'verified' : 'unverified',
    sendingPaused: line.pausedAt !== null,
    attachedServiceIds: line.services.map((id) => publicId('service', id)),
    quotaBytes: line.quotaBytes,
    usedBytes: line.usedBytes,
    agentPolicyId: line.policy === null ? null : publicId('policy', line.policy),
    hiddenImapCapabilities: line.hiddenCapabilities,
    createdAt: isoOf(line.createdAt),
  };
}

/** Returns the current state of a mailbox of the caller's organization. */
export async function mailboxNow(call: Call, account: number): Promise<z.output<typeof Mailbox>> {
  const [line] = await call.store.read(listOrganizationMailboxes, { tenant: call.tenant, account });
  return line === undefined ? notFound('mailbox') : shownMailbox(line);
}

/** A name in From. Mail whose name shows another address is refused when it is sent. */
export const DisplayName = Line(1, 100).refine(
  (name) => shownAddresses(name).length === 0 && !overridesDirection(name),
  'must not show an address or turn the direction of text',
);
