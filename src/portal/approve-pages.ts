import type { FastifyInstance, FastifyReply } from 'fastify';
import { type AskedMail, askedMail } from '../approvals/asked-mail.ts';
import type { Decided } from '../approvals/commands.ts';
import { decide, UNDECIDED } from '../approvals/decision.ts';
import { type ApprovalLink, openLink } from '../approvals/link.ts';
import { publicId } from '../ids.ts';
import { askedMailShown } from './asked-mail.ts';
import { type Asked, type Door, send, sendNotice } from './door.ts';
import { hidden } from './forms.ts';
import { Fields } from './guard.ts';
import { html, type Part } from './html.ts';
import { narrowPage } from './layout.ts';

/**
 * `/approve`: the page behind a link in a letter to an owner. Looking at it decides nothing, as programs look into links
 * before people do.
 */
export function approveRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/approve', (request, reply) => show({ ...door, request, reply }));
    app.post('/approve', (request, reply) => answer({ ...door, request, reply }));
  };
}

async function show(asked: Asked): Promise<FastifyReply> {
  const { id, user, token } = asked.request.query as Record<string, unknown>;
  const link = { id: text(id), user: text(user), token: text(token) };
  const opened = await openLink(asked.world, link);
  if (opened === undefined) return opensNothing(asked);
  const found = await askedMail(asked.world, { ...opened, accounts: null });
  if (found === undefined) return opensNothing(asked);
  const body = html`<h1>Send this?</h1>
    <p>An agent wants to send this. It leaves only if you approve it.</p>
    <section>${askedMailShown(found)}</section>
    ${found.item.state === 'pending' ? buttons(link) : over(found)}`;
  return send(asked, narrowPage({ title: 'Send this?', body, fromLink: true, wide: true }), 200, true);
}

function buttons(link: ApprovalLink): Part {
  const form = (verb: string, label: string, look: string): Part =>
    html`<form class="plain" method="post" action="/approve">
      ${Object.entries(link).map(([name, value]) => hidden(name, value))} ${hidden('do', verb)}
      <button class="${look}">${label}</button>
    </form>`;
  return html`<section>
    <p>Approve what you would have written yourself. An agent may have been talked into it by mail that it read.</p>
    ${form('approve', 'Approve and send', '')} ${form('deny', 'Refuse', 'quiet')}
  </section>`;
}

function over({ item: { state } }: AskedMail): Part {
  return html`<p>${state === 'expired' ? UNDECIDED.expired : UNDECIDED.decided}</p>`;
}

async function answer(asked: Asked): Promise<FastifyReply> {
  const fields = new Fields(asked.request.body);
  const opened = await openLink(asked.world, {
    id: fields.text('id'),
    user: fields.text('user'),
    token: fields.text('token'),
  });
  const verb = fields.text('do');
  if (opened === undefined || (verb !== 'approve' && verb !== 'deny')) return opensNothing(asked);
  const { id, tenant, approver } = opened;
  const actor = { actor: publicId('user', approver.user), actorName: approver.email, ip: asked.request.ip };
  const done = await decide(asked.world, { ...actor, tenant, accounts: null }, { id, approves: verb === 'approve' });
  return sendNotice(asked, { ...TOLD[done.kind], href: '/', link: 'To the front page' }, statusOf(done));
}

const TOLD: Readonly<Record<Decided['kind'], { title: string; text: string }>> = {
  approved: { title: 'It is sent', text: 'You approved it, and it leaves now or when its time comes.' },
  denied: { title: 'It was refused', text: 'Nobody gets it, and its agent is told.' },
  missing: { title: 'Nothing was done', text: UNDECIDED.missing },
  frozen: { title: 'Nothing was done', text: UNDECIDED.frozen },
  decided: { title: 'Nothing was done', text: UNDECIDED.decided },
  expired: { title: 'It is too late', text: UNDECIDED.expired },
  changed: { title: 'Nothing was done', text: UNDECIDED.changed },
};

function statusOf({ kind }: Decided): number {
  return kind === 'approved' || kind === 'denied' ? 200 : 409;
}

function opensNothing(asked: Asked): FastifyReply {
  const why = 'It may have been cut off on its way, or you are no owner of the organization any more.';
  return sendNotice(asked, { title: 'This link opens nothing', text: why, href: '/login', link: 'Sign in' }, 404);
}

function text(given: unknown): string {
  return typeof given === 'string' ? given : '';
}
