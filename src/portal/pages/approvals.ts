import { countPending, listOutbox, type OutboxItem } from '../../../mail/delivery/outbox-items.ts';
import { requesterOf, approvalMail } from '../../approvals/approval-mail.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { revealInvisible } from '../../untrusted/invisible.ts';
import { stateTag, approvalDetails } from '../approval-view.ts';
import { html, type HtmlPart } from '../html.ts';
import { type Page, type PageAction, formStateFor, actionForm, type PageState, confirmedAction } from '../page.ts';
import { address, emptyState, pageHead, timestamp, quotedText, table, backLink } from '../components.ts';
import type { Visit } from '../visit.ts';
import { decideByHttp, type Decider, UNDECIDED_TEXT } from '../../approvals/decision.ts';
import { type FormState, EMPTY_FORM } from '../forms.ts';
import { reauthenticationField, reauthenticate } from '../reauthentication.ts';

const MAX_DECIDED = 20;
const MAX_ITEMS = 100;

/** Mail of agents that awaits approval, and recent decisions. */
export const approvals: Page = {
  path: '/outbox',
  name: 'Approvals',
  menu: 'Mail',
  needs: 'list_outbox',
  notices: {
    approved: 'Message approved.',
    denied: 'Message rejected. It is not sent, and the agent is notified.',
  },
  actions: {},
  count: ({ context, membership, caller }) =>
    context.store.read(countPending, {
      tenant: membership.organization,
      accounts: caller.mailboxes,
      now: context.clock(),
    }),
  async show(visit) {
    const [pending, decided] = await Promise.all([items(visit, 'pending'), items(visit, null)]);
    const pendingItems = pending.filter(({ approval }) => approval !== null);
    const past = decided.filter(({ approval, state }) => approval !== null && state !== 'pending');
    return html`${pageHead('Approvals', 'Messages of agents that need your approval. They expire after 24 hours.')}
    ${
      pendingItems.length === 0
        ? emptyState('No pending approvals', 'Messages of agents that need approval are listed here.')
        : await pendingTable(visit, pendingItems)
    }
    ${past.length > 0 && (await decidedTable(visit, past.slice(0, MAX_DECIDED)))}`;
  },
};

function items({ context, membership, caller }: Visit, state: 'pending' | null): Promise<OutboxItem[]> {
  const whose = { tenant: membership.organization, accounts: caller.mailboxes };
  return context.store.read(listOutbox, { ...whose, state, before: null, limit: MAX_ITEMS, now: context.clock() });
}

async function pendingTable(visit: Visit, all: readonly OutboxItem[]): Promise<HtmlPart> {
  const rows = await Promise.all(
    all.map(async (one) => [
      link(visit, one),
      [first(one), more(one.recipients)],
      [
        await asker(visit, one),
        html` <span class="soft">as ${quotedText(address(revealInvisible(one.sender)))}</span>`,
      ],
      [
        revealInvisible(one.approval?.reasons[0]?.text ?? ''),
        html` <span class="soft">Expires ${timestamp(one.approval?.expiresAt ?? 0)}</span>`,
      ],
    ]),
  );
  return table('Pending approvals', ['Subject', 'Recipients', 'Requested by', 'Reason'], rows);
}

async function decidedTable(visit: Visit, all: readonly OutboxItem[]): Promise<HtmlPart> {
  const rows = await Promise.all(
    all.map(async (one) => [
      link(visit, one),
      [first(one), more(one.recipients)],
      await asker(visit, one),
      [stateTag(one.state), html` <span class="soft">${one.approval?.decidedBy ?? ''}</span>`],
    ]),
  );
  return html`<section>
    <h2>Decided</h2>
    ${table('Decided messages', ['Subject', 'Recipients', 'Requested by', 'Status'], rows)}
  </section>`;
}

function link({ base }: Visit, { id, approval }: OutboxItem): HtmlPart {
  const subject = approval?.subject ?? '';
  const href = `${base}/outbox/${publicId('outbox', id)}`;
  if (subject === '') return html`<a href="${href}">(no subject)</a>`;
  // The link is inside the quotation: browsers ignore clicks on quotation marks inside a link.
  return quotedText(html`<a href="${href}">${revealInvisible(subject)}</a>`);
}

function first({ recipients: [one = ''] }: OutboxItem): HtmlPart {
  return quotedText(address(revealInvisible(one)));
}

function more(recipients: readonly string[]): HtmlPart {
  return recipients.length > 1 && html` <span class="soft">and ${recipients.length - 1} more</span>`;
}

async function asker({ context, membership }: Visit, { approval }: OutboxItem): Promise<HtmlPart> {
  return quotedText(await requesterOf(context, membership.organization, approval?.credential ?? ''));
}

/** One message of an agent, with the buttons to approve or reject it. */
export const approval: Page = {
  path: '/outbox/:id',
  name: 'Approval',
  menu: null,
  needs: 'list_outbox',
  notices: {},
  actions: { approve: deciding(true), deny: deciding(false) },
  async show(visit, state) {
    const id = rowId('outbox', state.params['id'] ?? '') ?? 0;
    const { organization: tenant } = visit.membership;
    const found = await approvalMail(visit.context, { tenant, accounts: visit.caller.mailboxes, id });
    if (found === undefined) return undefined;
    return html`${backLink(`${visit.base}/outbox`, 'Approvals')} ${pageHead('Message of an agent')}
    ${approvalDetails(found)} ${found.item.state === 'pending' && buttons(visit, state)}`;
  },
};

function buttons(visit: Visit, state: PageState): HtmlPart {
  const again = reauthenticationField(visit, visit.visitor, formStateFor(state, 'approve'));
  return html`<section>
    <h2>Decision</h2>
    <p>
      Approve only what you would have written yourself. Mail that the agent read may have tricked it into sending this.
    </p>
    ${actionForm(visit, 'approve', 'Approve and send', again)}
    ${confirmedAction(visit, 'deny', {
      label: 'Reject',
      question: 'The message is not sent, and the agent is notified.',
      yes: 'Reject',
    })}
  </section>`;
}

/** The visitor as approver. */
export function deciderOf({ membership, caller }: Pick<Visit, 'membership' | 'caller'>): Decider {
  const { actor, actorName, ip, mailboxes: accounts } = caller;
  return { tenant: membership.organization, accounts, actor, actorName, ip };
}

function deciding(approves: boolean): PageAction {
  return async (visit, fields, params) => {
    const wrong = approves ? await reauthenticate(visit, visit.visitor, fields.text('password')) : undefined;
    if (wrong !== undefined) return { kind: 'refused', form: refusedFor(wrong) };
    const id = rowId('outbox', params['id'] ?? '') ?? 0;
    const done = await decideByHttp(visit.context, deciderOf(visit), { id, approves });
    if (done.kind !== 'approved' && done.kind !== 'denied') {
      return { kind: 'refused', form: { ...EMPTY_FORM, problem: UNDECIDED_TEXT[done.kind] } };
    }
    return { kind: 'done', notice: done.kind, to: `${visit.base}/outbox` };
  };
}

function refusedFor(wrong: string): FormState {
  return { values: {}, errors: { password: wrong } };
}
