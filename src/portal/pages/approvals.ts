import { countPending, listOutbox, type OutboxItem } from '../../../mail/delivery/outbox-items.ts';
import { requesterOf, approvalMail } from '../../approvals/approval-mail.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { revealInvisible } from '../../untrusted/invisible.ts';
import { stateTag, approvalDetails } from '../approval-view.ts';
import { html, type HtmlPart } from '../html.ts';
import { type Page, type PageAction, formStateFor, actionForm, type PageState, confirmedAction } from '../page.ts';
import { address, emptyState, pageHead, timestamp, quotedText, table, backLink } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import type { Visit } from '../visit.ts';
import { decideByHttp, type Decider } from '../../approvals/decision.ts';
import { type FormState, EMPTY_FORM } from '../forms.ts';
import { reauthenticationField, reauthenticate } from '../reauthentication.ts';

const MAX_DECIDED = 20;
const MAX_ITEMS = 100;

/** Mail of agents that awaits approval, and recent decisions. */
export const approvals: Page = {
  path: '/outbox',
  name: 'Approvals',
  translated: true,
  menu: 'Mail',
  needs: 'list_outbox',
  notices: {
    approved: { message: 'approvals.approved' },
    denied: { message: 'approvals.denied' },
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
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Approvals'), t('approvals.about'))}
    ${
      pendingItems.length === 0
        ? emptyState(t('approvals.none'), t('approvals.none-text'))
        : await pendingTable(t, visit, pendingItems)
    }
    ${past.length > 0 && (await decidedTable(t, visit, past.slice(0, MAX_DECIDED)))}`;
  },
};

function items({ context, membership, caller }: Visit, state: 'pending' | null): Promise<OutboxItem[]> {
  const whose = { tenant: membership.organization, accounts: caller.mailboxes };
  return context.store.read(listOutbox, { ...whose, state, before: null, limit: MAX_ITEMS, now: context.clock() });
}

async function pendingTable(t: Translator, visit: Visit, all: readonly OutboxItem[]): Promise<HtmlPart> {
  const rows = await Promise.all(
    all.map(async (one) => [
      link(t, visit, one),
      [first(one), more(t, one.recipients)],
      [
        await asker(visit, one),
        html` <span class="soft"
          >${t.rich('approvals.as', { sender: quotedText(address(revealInvisible(one.sender))) })}</span
        >`,
      ],
      [
        t.english(revealInvisible(one.approval?.reasons[0]?.text ?? '')),
        html` <span class="soft">${t('approval.expires')} ${timestamp(one.approval?.expiresAt ?? 0, t)}</span>`,
      ],
    ]),
  );
  const headings = [t('approval.subject'), t('approval.recipients'), t('approval.requested-by'), t('approvals.reason')];
  return table(t('approvals.pending'), headings, rows, t);
}

async function decidedTable(t: Translator, visit: Visit, all: readonly OutboxItem[]): Promise<HtmlPart> {
  const rows = await Promise.all(
    all.map(async (one) => [
      link(t, visit, one),
      [first(one), more(t, one.recipients)],
      await asker(visit, one),
      [stateTag(one.state, t), html` <span class="soft">${one.approval?.decidedBy ?? ''}</span>`],
    ]),
  );
  const headings = [t('approval.subject'), t('approval.recipients'), t('approval.requested-by'), t('domains.status')];
  return html`<section>
    <h2>${t('approvals.decided')}</h2>
    ${table(t('approvals.decided-messages'), headings, rows, t)}
  </section>`;
}

function link(t: Translator, { base }: Visit, { id, approval }: OutboxItem): HtmlPart {
  const subject = approval?.subject ?? '';
  const href = `${base}/outbox/${publicId('outbox', id)}`;
  if (subject === '') return html`<a href="${href}">${t('junk.no-subject')}</a>`;
  // The link is inside the quotation: browsers ignore clicks on quotation marks inside a link.
  return quotedText(html`<a href="${href}">${revealInvisible(subject)}</a>`);
}

function first({ recipients: [one = ''] }: OutboxItem): HtmlPart {
  return quotedText(address(revealInvisible(one)));
}

function more(t: Translator, recipients: readonly string[]): HtmlPart {
  return (
    recipients.length > 1 &&
    html` <span class="soft">${t('approval.and-more', { count: recipients.length - 1 })}</span>`
  );
}

async function asker({ context, membership }: Visit, { approval }: OutboxItem): Promise<HtmlPart> {
  return quotedText(await requesterOf(context, membership.organization, approval?.credential ?? ''));
}

/** One message of an agent, with the buttons to approve or reject it. */
export const approval: Page = {
  path: '/outbox/:id',
  name: 'Approval',
  translated: true,
  menu: null,
  needs: 'list_outbox',
  notices: {},
  actions: { approve: deciding(true), deny: deciding(false) },
  async show(visit, state) {
    const id = rowId('outbox', state.params['id'] ?? '') ?? 0;
    const { organization: tenant } = visit.membership;
    const found = await approvalMail(visit.context, { tenant, accounts: visit.caller.mailboxes, id });
    if (found === undefined) return undefined;
    const t = translatorOf(visit.request);
    return html`${backLink(`${visit.base}/outbox`, t('page.Approvals'))} ${pageHead(t('approvals.message'))}
    ${approvalDetails(found, t)} ${found.item.state === 'pending' && buttons(t, visit, state)}`;
  },
};

function buttons(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const again = reauthenticationField(visit, visit.visitor, formStateFor(state, 'approve'));
  return html`<section>
    <h2>${t('approvals.decision')}</h2>
    <p>${t('approve.caution')}</p>
    ${actionForm(visit, 'approve', t('approve.approve'), again)}
    ${confirmedAction(visit, 'deny', {
      label: t('approve.reject'),
      question: t('approvals.reject-question'),
      yes: t('approve.reject'),
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
      return {
        kind: 'refused',
        form: { ...EMPTY_FORM, problem: translatorOf(visit.request)(`undecided.${done.kind}`) },
      };
    }
    return { kind: 'done', notice: done.kind, to: `${visit.base}/outbox` };
  };
}

function refusedFor(wrong: string): FormState {
  return { values: {}, errors: { password: wrong } };
}
