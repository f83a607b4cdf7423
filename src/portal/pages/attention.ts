import { countPending } from '../../../mail/delivery/outbox-items.ts';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { countPendingProposals } from '../../agents/proposal-queries.ts';
import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { listQueueItems } from '../../operations/queue/list.ts';
import type { listPausedSenders } from '../../operations/sending/paused-senders.ts';
import type { listOrganizationWebhooks } from '../../operations/sending/organization-webhooks.ts';
import { bytes, durationOf } from '../components.ts';
import { html, type HtmlPart } from '../html.ts';
import { isAllowed, readOperation, type Visit } from '../visit.ts';
import { type AttentionItem, serverAttention } from './attention-server.ts';

const LEVELS = { bad: 0, warn: 1, info: 2 } as const;
const ALL = { limit: 100 };
/** Mail that is deferred for longer is worth a look. */
const OLD_QUEUE_MS = 4 * 3_600_000;
const NEARLY_FULL = 0.9;

/** Lists what needs the visitor first, the worst on top; nothing is an answer too. */
export async function attention(visit: Visit): Promise<HtmlPart> {
  const found = await Promise.all([
    visit.membership.organization === OPERATOR ? serverAttention(visit) : [],
    domainItems(visit),
    queueItems(visit),
    decisionItems(visit),
    quotaItems(visit),
    senderItems(visit),
    webhookItems(visit),
  ]);
  const all = found.flat().toSorted((a, b) => LEVELS[a.level] - LEVELS[b.level]);
  return html`<section class="attention" aria-labelledby="attention">
    <h2 id="attention">Needs attention</h2>
    ${
      all.length === 0
        ? html`<p class="fine">Nothing needs your attention.</p>`
        : html`<ul>
            ${all.map(itemOf)}
          </ul>`
    }
  </section>`;
}

const MARKS = { bad: 'Urgent', warn: 'Soon', info: 'Open' } as const;

function itemOf({ level, text, href, link }: AttentionItem): HtmlPart {
  return html`<li class="${level}">
    <span class="tag ${level === 'info' ? '' : level}">${MARKS[level]}</span>
    <span>${text}</span>
    <a href="${href}">${link}</a>
  </li>`;
}

async function domainItems(visit: Visit): Promise<AttentionItem[]> {
  const listed = await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', ALL);
  return (listed?.domains ?? [])
    .filter(({ status }) => status !== 'verified')
    .slice(0, 5)
    .map(({ id, domain }) => ({
      level: 'warn',
      text: html`<strong>${domain}</strong> is not verified: it can neither send nor receive mail yet.`,
      href: `${visit.base}/domains/${id}`,
      link: 'Set up DNS',
    }));
}

async function queueItems(visit: Visit): Promise<AttentionItem[]> {
  const href = `${visit.base}/queue`;
  const items: AttentionItem[] = [];
  const held = await readOperation<typeof listQueueItems>(visit, 'list_queue', { state: 'held', limit: 25 });
  const count = held?.items.length ?? 0;
  const many = held?.nextCursor === null ? String(count) : `More than ${count}`;
  if (count > 0) {
    const text = `${many} ${count === 1 ? 'message is' : 'messages are'} held.`;
    items.push({ level: 'info', text, href, link: 'View the queue' });
  }
  const due = await readOperation<typeof listQueueItems>(visit, 'list_queue', ALL);
  const now = visit.context.clock();
  const old = (due?.items ?? []).filter(
    ({ state, queuedAt }) => state !== 'held' && now - Date.parse(queuedAt) > OLD_QUEUE_MS,
  );
  if (old.length > 0) {
    const oldest = Math.max(...old.map(({ queuedAt }) => now - Date.parse(queuedAt)));
    const text = `${old.length} ${old.length === 1 ? 'recipient is' : 'recipients are'} deferred, the oldest for ${durationOf(oldest / 1000)}.`;
    items.push({ level: 'warn', text, href, link: 'See the reasons' });
  }
  return items;
}

async function decisionItems(visit: Visit): Promise<AttentionItem[]> {
  const { context, membership, caller, base } = visit;
  const now = context.clock();
  const items: AttentionItem[] = [];
  if (isAllowed(visit, 'list_outbox')) {
    const n = await context.store.read(countPending, {
      tenant: membership.organization,
      accounts: caller.mailboxes,
      now,
    });
    const text = `${n} ${n === 1 ? 'message of an agent awaits' : 'messages of agents await'} your approval.`;
    if (n > 0) items.push({ level: 'info', text, href: `${base}/outbox`, link: 'Decide' });
  }
  if (isAllowed(visit, 'decide_proposal')) {
    const n = await context.store.read(countPendingProposals, { organization: membership.organization, now });
    const text = `${n} ${n === 1 ? 'proposal awaits' : 'proposals await'} your decision.`;
    if (n > 0) items.push({ level: 'info', text, href: `${base}/proposals`, link: 'Review' });
  }
  return items;
}

async function quotaItems(visit: Visit): Promise<AttentionItem[]> {
  const listed = await readOperation<typeof listEmails>(visit, 'list_emails', ALL);
  return (listed?.mailboxes ?? [])
    .filter(({ usedBytes, quotaBytes }) => quotaBytes !== null && usedBytes >= quotaBytes * NEARLY_FULL)
    .slice(0, 5)
    .map(({ id, address, usedBytes, quotaBytes }) => ({
      level: usedBytes >= (quotaBytes ?? 0) ? 'bad' : 'warn',
      text: html`<strong>${address}</strong> is ${usedBytes >= (quotaBytes ?? 0) ? 'full' : 'nearly full'}:
        ${bytes(usedBytes)} of ${bytes(quotaBytes ?? 0)}. Mail to a full mailbox is deferred.`,
      href: `${visit.base}/mailboxes/${id}`,
      link: 'Open the mailbox',
    }));
}

async function senderItems(visit: Visit): Promise<AttentionItem[]> {
  const listed = await readOperation<typeof listPausedSenders>(visit, 'list_paused_senders', ALL);
  return (listed?.senders ?? []).slice(0, 5).map(({ name, sender }) => ({
    level: 'bad',
    text: html`<strong>${name === '' ? sender : name}</strong> is paused for unusual sending. Its mail is held.`,
    href: `${visit.base}/queue`,
    link: 'Check and resume',
  }));
}

async function webhookItems(visit: Visit): Promise<AttentionItem[]> {
  const listed = await readOperation<typeof listOrganizationWebhooks>(visit, 'list_webhooks', {});
  return (listed?.webhooks ?? [])
    .filter(({ enabled, consecutiveFailures }) => !enabled || consecutiveFailures > 0)
    .slice(0, 5)
    .map(({ id, url, enabled }) => ({
      level: enabled ? 'warn' : 'bad',
      text: html`The webhook at <strong>${new URL(url).host}</strong> ${enabled ? 'is failing' : 'is disabled'}.`,
      href: `${visit.base}/webhooks/${id}`,
      link: 'See its deliveries',
    }));
}
