import type { FastifyInstance, FastifyReply } from 'fastify';
import { type ApprovalMail, approvalMail } from '../approvals/approval-mail.ts';
import type { ApprovalResult } from '../approvals/commands.ts';
import { decideByHttp, UNDECIDED_TEXT } from '../approvals/decision.ts';
import { type ApprovalLink, openApprovalLink } from '../approvals/link.ts';
import { publicId } from '../core/ids.ts';
import { approvalDetails } from './approval-view.ts';
import { type PageExchange, type PortalDeps, sendPage, sendNotice } from './page-exchange.ts';
import { hidden } from './forms.ts';
import { Fields } from './form-fields.ts';
import { html, type HtmlPart } from './html.ts';
import { narrowPage } from './layout.ts';

/**
 * `/approve`: the page behind the link in an approval request. GET decides nothing: link scanners open links before
 * people do.
 */
export function approveRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/approve', (request, reply) => show({ ...deps, request, reply }));
    app.post('/approve', (request, reply) => submit({ ...deps, request, reply }));
  };
}

async function show(exchange: PageExchange): Promise<FastifyReply> {
  const { id, user, token } = exchange.request.query as Record<string, unknown>;
  const link = { id: text(id), user: text(user), token: text(token) };
  const opened = await openApprovalLink(exchange.context, link);
  if (opened === undefined) return invalidLink(exchange);
  const found = await approvalMail(exchange.context, { ...opened, accounts: null });
  if (found === undefined) return invalidLink(exchange);
  const body = html`<h1>Send this?</h1>
    <p>An agent wants to send this message. It is sent only if you approve it.</p>
    <section>${approvalDetails(found)}</section>
    ${found.item.state === 'pending' ? buttons(link) : decidedNote(found)}`;
  return sendPage(exchange, narrowPage({ title: 'Send this?', body, fromLink: true, wide: true }), 200, true);
}

function buttons(link: ApprovalLink): HtmlPart {
  const form = (verb: string, label: string, look: string): HtmlPart =>
    html`<form class="plain" method="post" action="/approve">
      ${Object.entries(link).map(([name, value]) => hidden(name, value))} ${hidden('do', verb)}
      <button class="${look}">${label}</button>
    </form>`;
  return html`<section>
    <p>
      Approve only what you would have written yourself. Mail that the agent read may have tricked it into sending this.
    </p>
    ${form('approve', 'Approve and send', '')} ${form('deny', 'Reject', 'quiet')}
  </section>`;
}

function decidedNote({ item: { state } }: ApprovalMail): HtmlPart {
  return html`<p>${state === 'expired' ? UNDECIDED_TEXT.expired : UNDECIDED_TEXT.decided}</p>`;
}

async function submit(exchange: PageExchange): Promise<FastifyReply> {
  const fields = new Fields(exchange.request.body);
  const opened = await openApprovalLink(exchange.context, {
    id: fields.text('id'),
    user: fields.text('user'),
    token: fields.text('token'),
  });
  const verb = fields.text('do');
  if (opened === undefined || (verb !== 'approve' && verb !== 'deny')) return invalidLink(exchange);
  const { id, tenant, approver } = opened;
  const actor = { actor: publicId('user', approver.user), actorName: approver.email, ip: exchange.request.ip };
  const done = await decideByHttp(
    exchange.context,
    { ...actor, tenant, accounts: null },
    { id, approves: verb === 'approve' },
  );
  return sendNotice(exchange, { ...NOTICES[done.kind], href: '/', link: 'To the front page' }, statusOf(done));
}

const NOTICES: Readonly<Record<ApprovalResult['kind'], { title: string; text: string }>> = {
  approved: { title: 'Approved', text: 'The message is sent now, or at its scheduled time.' },
  denied: { title: 'Rejected', text: 'The message is not sent. The agent is notified.' },
  missing: { title: 'No changes made', text: UNDECIDED_TEXT.missing },
  frozen: { title: 'No changes made', text: UNDECIDED_TEXT.frozen },
  decided: { title: 'No changes made', text: UNDECIDED_TEXT.decided },
  expired: { title: 'Expired', text: UNDECIDED_TEXT.expired },
  changed: { title: 'No changes made', text: UNDECIDED_TEXT.changed },
};

function statusOf({ kind }: ApprovalResult): number {
  return kind === 'approved' || kind === 'denied' ? 200 : 409;
}

function invalidLink(exchange: PageExchange): FastifyReply {
  const why = 'The link is incomplete, or you are no longer an owner of the organization.';
  return sendNotice(exchange, { title: 'Invalid link', text: why, href: '/login', link: 'Sign in' }, 404);
}

function text(given: unknown): string {
  return typeof given === 'string' ? given : '';
}
