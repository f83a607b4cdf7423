import { publicId } from '../core/ids.ts';
import { plainName, type NotifiedOwner, notifiedOwners } from '../notices/owners.ts';
import { listOutbox, type OutboxItem } from '../../mail/delivery/outbox-items.ts';
import type { SystemNotice } from '../../mail/delivery/notice.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { type Proposal, pendingProposalsOf } from '../agents/proposal-queries.ts';
import { composeNotice, type NoticeContext } from '../notices/compose.ts';
import { revealInvisible } from '../untrusted/invisible.ts';
import { requesterOf } from './approval-mail.ts';
import { approvalLink } from './link.ts';

/** Messages that one notice names; the page lists all. */
const MAX_NAMED = 20;
const MAX_RECIPIENTS = 5;

/** Pending approvals of an organization: one more of each than a notice names if there are more. */
interface PendingDecisions {
  mail: readonly OutboxItem[];
  proposals: readonly Proposal[];
}

/** Composes the request for approval, for each owner of an organization. */
export async function composeApprovalRequest(
  context: NoticeContext,
  tenant: number,
): Promise<SystemNotice<'approval-request'>[]> {
  const { store, clock } = context;
  const some = { limit: MAX_NAMED + 1, now: clock() };
  const page = { tenant, accounts: null, state: 'pending', approvalsOnly: true, before: null, ...some } as const;
  const pending: PendingDecisions = {
    mail: await store.read(listOutbox, page),
    proposals: await store.read(pendingProposalsOf, { organization: tenant, ...some }),
  };
  const owners = await store.read(notifiedOwners, { organization: tenant, daily: false });
  const notices = await Promise.all(owners.map((owner) => noticeTo(context, tenant, owner, pending)));
  return notices.filter((one) => one !== undefined);
}

async function noticeTo(
  context: NoticeContext,
  tenant: number,
  owner: NotifiedOwner,
  waiting: PendingDecisions,
): Promise<SystemNotice<'approval-request'> | undefined> {
  const to = parseAddress(owner.email);
  if (to === undefined) return undefined;
  const write = async (linked: boolean): Promise<SystemNotice<'approval-request'>> =>
    composeNotice(context, {
      kind: 'approval-request',
      to,
      subject: subjectOf(waiting),
      text: await textOf(context, tenant, waiting, linked ? owner.user : undefined),
    });
  const plain = await write(false);
  return leavesTheBox(plain) ? write(true) : plain;
}

/** A notice that arrives in a mailbox here, or is forwarded by one, may be read by an agent: it gets no decision link. */
function leavesTheBox({ here, onward = [] }: SystemNotice): boolean {
  return here.length === 0 && onward.length === 0;
}

function subjectOf({ mail, proposals }: PendingDecisions): string {
  if (mail.length > 0 && proposals.length > 0) return "Approval needed: your agents' mail and proposals";
  if (mail.length > 0) return mail.length === 1 ? 'Approval needed: a message' : 'Approval needed: messages';
  return proposals.length === 1 ? 'Approval needed: a proposal' : 'Approval needed: proposals';
}

async function textOf(
  context: NoticeContext,
  tenant: number,
  { mail, proposals }: PendingDecisions,
  user: number | undefined,
): Promise<string> {
  const { hostname } = context.settings;
  const pages = `${context.baseUrl()}/o/${publicId('organization', tenant)}`;
  return [
    'Hello,',
    '',
    ...(mail.length > 0 ? await mailText(context, tenant, mail, { user, pages }) : []),
    ...(proposals.length > 0 ? proposalText(hostname, proposals, pages) : []),
    'To deny a request, open it and choose Deny, or ignore it until it expires.',
    '',
    `Mailstead on ${hostname}`,
  ].join('\r\n');
}

async function mailText(
  context: NoticeContext,
  tenant: number,
  mail: readonly OutboxItem[],
  { user, pages }: { user: number | undefined; pages: string },
): Promise<string[]> {
  const { hostname } = context.settings;
  const named = await Promise.all(mail.slice(0, MAX_NAMED).map((one) => itemText(context, tenant, one, user)));
  return [
    `an agent of yours wants to send mail through the mail server ${hostname}. The mail is held until you`,
    'approve it, and expires after 24 hours.',
    '',
    ...named.flat(),
    ...(mail.length > MAX_NAMED ? [MORE, ''] : []),
    'All held messages (sign-in required):',
    `${pages}/outbox`,
    '',
  ];
}

/** Proposals are decided on the page after sign-in only, where their arguments are shown. */
function proposalText(hostname: string, proposals: readonly Proposal[], pages: string): string[] {
  const named = proposals
    .slice(0, MAX_NAMED)
    .flatMap(({ operation, tokenName, expiresAt }) => [
      `  Change: ${operation.replaceAll('_', ' ')}`,
      `  Requested by: ${revealInvisible(plainName(tokenName))}`,
      `  Expires: ${new Date(expiresAt).toISOString().slice(0, 10)}`,
      '',
    ]);
  return [
    `an agent of yours on the mail server ${hostname} proposes a permanent change. It takes effect only if you`,
    'accept it.',
    '',
    ...named,
    ...(proposals.length > MAX_NAMED ? [MORE, ''] : []),
    'Details of each proposal (sign-in required):',
    `${pages}/proposals`,
    '',
  ];
}

const MORE = 'There are more; the page below lists all of them.';

/** Strips text of others so that nothing in it becomes a link. */
async function itemText(
  context: NoticeContext,
  tenant: number,
  { id, recipients, approval }: OutboxItem,
  user: number | undefined,
): Promise<string[]> {
  const requester = await requesterOf(context, tenant, approval?.credential ?? '');
  const link = user === undefined ? undefined : await approvalLink(context, { id, user });
  const more = recipients.length - MAX_RECIPIENTS;
  return [
    `  Subject: ${revealInvisible(plainName(approval?.subject ?? ''))}`,
    `  To: ${revealInvisible(recipients.slice(0, MAX_RECIPIENTS).join(', '))}${more > 0 ? ` and ${more} more` : ''}`,
    `  Requested by: ${plainName(requester)}`,
    `  Held because: ${revealInvisible((approval?.reasons ?? []).map(({ text }) => text).join('; '))}`,
    ...(link === undefined ? [] : [`  Review and decide: ${link}`]),
    '',
  ];
}
