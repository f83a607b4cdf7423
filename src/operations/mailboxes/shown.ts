import { z } from 'zod';
import { publicId } from '../../ids.ts';
import { listMailboxes, type MailboxLine } from '../../mailboxes/commands.ts';
import type { Call } from '../operation.ts';
import { notFound } from '../refusal.ts';
import { Id, isoOf, Line } from '../schemas.ts';

/** A mailbox as it is listed; never with a password. */
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
  createdAt: z.string(),
});

/** How arguments name a mailbox: `mailboxId`, or its address. */
export const Which = {
  mailboxId: Id('mailbox').optional(),
  address: Line(1, 320).optional(),
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
    createdAt: isoOf(line.createdAt),
  };
}

/** One mailbox of the caller's organization as it is now. */
export async function mailboxNow(call: Call, account: number): Promise<z.output<typeof Mailbox>> {
  const [line] = await call.store.read(listMailboxes, { tenant: call.tenant, account });
  return line === undefined ? notFound('mailbox') : shownMailbox(line);
}
