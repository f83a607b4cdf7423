import type { FastifyInstance, FastifyReply } from 'fastify';
import { type ApprovalMail, approvalMail } from '../approvals/approval-mail.ts';
import type { ApprovalResult } from '../approvals/commands.ts';
import { decideByHttp } from '../approvals/decision.ts';
import { type ApprovalLink, openApprovalLink } from '../approvals/link.ts';
import { publicId } from '../core/ids.ts';
import { approvalDetails } from './approval-view.ts';
import { type PageExchange, type PortalDeps, sendPage, sendMessagePage } from './page-exchange.ts';
import { hidden } from './forms.ts';
import { Fields } from './form-fields.ts';
import { html, type HtmlPart } from './html.ts';
import { narrowPage } from './layout.ts';
import type { PlainPortalKey } from './message-types.ts';
import { type Translator, translatorOf } from './translator.ts';

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
  const { request } = exchange;
  const t = translatorOf(request);
  const title = t('approve.title');
  const body = html`<h1>${title}</h1>
    <p>${t('approve.about')}</p>
    <section>${approvalDetails(found, t)}</section>
    ${found.item.state === 'pending' ? buttons(t, link) : decidedNote(t, found)}`;
  return sendPage(exchange, narrowPage({ request, title, body, fromLink: true, wide: true }), 200, true);
}

function buttons(t: Translator, link: ApprovalLink): HtmlPart {
  const form = (verb: string, label: string, look: string): HtmlPart =>
    html`<form class="plain" method="post" action="/approve">
      ${Object.entries(link).map(([name, value]) => hidden(name, value))} ${hidden('do', verb)}
      <button class="${look}">${label}</button>
    </form>`;
  return html`<section>
    <p>${t('approve.caution')}</p>
    ${form('approve', t('approve.approve'), '')} ${form('deny', t('approve.reject'), 'quiet')}
  </section>`;
}

function decidedNote(t: Translator, { item: { state } }: ApprovalMail): HtmlPart {
  return html`<p>${t(state === 'expired' ? 'undecided.expired' : 'undecided.decided')}</p>`;
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
  const t = translatorOf(exchange.request);
  const { title, text } = NOTICES[done.kind];
  const notice = { title: t(title), text: t(text), href: '/', link: t('approve.front') };
  return sendMessagePage(exchange, notice, statusOf(done));
}

const NOTICES = {
  approved: { title: 'approval.approved', text: 'approve.approved-text' },
  denied: { title: 'approval.denied', text: 'approve.denied-text' },
  missing: { title: 'error.no-changes', text: 'undecided.missing' },
  frozen: { title: 'error.no-changes', text: 'undecided.frozen' },
  decided: { title: 'error.no-changes', text: 'undecided.decided' },
  expired: { title: 'approval.expired', text: 'undecided.expired' },
  changed: { title: 'error.no-changes', text: 'undecided.changed' },
} as const satisfies Readonly<Record<ApprovalResult['kind'], { title: PlainPortalKey; text: PlainPortalKey }>>;

function statusOf({ kind }: ApprovalResult): number {
  return kind === 'approved' || kind === 'denied' ? 200 : 409;
}

function invalidLink(exchange: PageExchange): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('link.missing'), text: t('approve.bad-link'), href: '/login', link: t('button.sign-in') };
  return sendMessagePage(exchange, notice, 404);
}

function text(given: unknown): string {
  return typeof given === 'string' ? given : '';
}
