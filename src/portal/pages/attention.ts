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
import { type Translator, translatorOf } from '../translator.ts';
import { type AttentionItem, serverAttention } from './attention-server.ts';

const LEVELS = { bad: 0, warn: 1, info: 2 } as const;
const ALL = { limit: 100 };
/** Mail that is deferred for longer is worth a look. */
const OLD_QUEUE_MS = 4 * 3_600_000;
const NEARLY_FULL = 0.9;

/** Lists what needs the visitor first, the worst on top; nothing is an answer too. */
export async function attention(visit: Visit): Promise<HtmlPart> {
  const t = translatorOf(visit.request);
  const found = await Promise.all([
    visit.membership.organization === OPERATOR ? serverAttention(t, visit) : [],
    domainItems(t, visit),
    queueItems(t, visit),
    decisionItems(t, visit),
    quotaItems(t, visit),
    senderItems(t, visit),
    webhookItems(t, visit),
  ]);
  const all = found.flat().toSorted((a, b) => LEVELS[a.level] - LEVELS[b.level]);
  return html`<section class="attention" aria-labelledby="attention">
    <h2 id="attention">${t('attention.title')}</h2>
    ${
      all.length === 0
        ? html`<p class="fine">${t('attention.nothing')}</p>`
        : html`<ul>
            ${all.map((one) => itemOf(t, one))}
          </ul>`
    }
  </section>`;
}

function itemOf(t: Translator, { level, text, href, link }: AttentionItem): HtmlPart {
  return html`<li class="${level}">
    <span class="tag ${level === 'info' ? '' : level}">${t(`attention.${level}`)}</span>
    <span>${text}</span>
    <a href="${href}">${link}</a>
  </li>`;
}

async function domainItems(t: Translator, visit: Visit): Promise<AttentionItem[]> {
  const listed = await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', ALL);
  return (listed?.domains ?? [])
    .filter(({ status }) => status !== 'verified')
    .slice(0, 5)
    .map(({ id, domain }) => ({
      level: 'warn',
      text: t.rich('attention.domain', { domain: html`<strong>${domain}</strong>` }),
      href: `${visit.base}/domains/${id}`,
      link: t('attention.domain-link'),
    }));
}

async function queueItems(t: Translator, visit: Visit): Promise<AttentionItem[]> {
  const href = `${visit.base}/queue`;
  const items: AttentionItem[] = [];
  const held = await readOperation<typeof listQueueItems>(visit, 'list_queue', { state: 'held', limit: 25 });
  const count = held?.items.length ?? 0;
  if (count > 0) {
    const text = t(held?.nextCursor === null ? 'attention.held' : 'attention.held-more', { count });
    items.push({ level: 'info', text, href, link: t('attention.held-link') });
  }
  const due = await readOperation<typeof listQueueItems>(visit, 'list_queue', ALL);
  const now = visit.context.clock();
  const old = (due?.items ?? []).filter(
    ({ state, queuedAt }) => state !== 'held' && now - Date.parse(queuedAt) > OLD_QUEUE_MS,
  );
  if (old.length > 0) {
    const oldest = Math.max(...old.map(({ queuedAt }) => now - Date.parse(queuedAt)));
    const text = t('attention.deferred', { count: old.length, time: durationOf(oldest / 1000, t) });
    items.push({ level: 'warn', text, href, link: t('attention.deferred-link') });
  }
  return items;
}

async function decisionItems(t: Translator, visit: Visit): Promise<AttentionItem[]> {
  const { context, membership, caller, base } = visit;
  const now = context.clock();
  const items: AttentionItem[] = [];
  if (isAllowed(visit, 'list_outbox')) {
    const n = await context.store.read(countPending, {
      tenant: membership.organization,
      accounts: caller.mailboxes,
      now,
    });
    const text = t('attention.approvals', { count: n });
    if (n > 0) items.push({ level: 'info', text, href: `${base}/outbox`, link: t('attention.decide') });
  }
  if (isAllowed(visit, 'decide_proposal')) {
    const n = await context.store.read(countPendingProposals, { organization: membership.organization, now });
    const text = t('attention.proposals', { count: n });
    if (n > 0) items.push({ level: 'info', text, href: `${base}/proposals`, link: t('attention.review') });
  }
  return items;
}

async function quotaItems(t: Translator, visit: Visit): Promise<AttentionItem[]> {
  const listed = await readOperation<typeof listEmails>(visit, 'list_emails', ALL);
  return (listed?.mailboxes ?? [])
    .filter(({ usedBytes, quotaBytes }) => quotaBytes !== null && usedBytes >= quotaBytes * NEARLY_FULL)
    .slice(0, 5)
    .map(({ id, address, usedBytes, quotaBytes }) => ({
      level: usedBytes >= (quotaBytes ?? 0) ? 'bad' : 'warn',
      text: t.rich(usedBytes >= (quotaBytes ?? 0) ? 'attention.full' : 'attention.nearly-full', {
        mailbox: html`<strong>${address}</strong>`,
        used: bytes(usedBytes, t),
        quota: bytes(quotaBytes ?? 0, t),
      }),
      href: `${visit.base}/mailboxes/${id}`,
      link: t('attention.mailbox-link'),
    }));
}

async function senderItems(t: Translator, visit: Visit): Promise<AttentionItem[]> {
  const listed = await readOperation<typeof listPausedSenders>(visit, 'list_paused_senders', ALL);
  return (listed?.senders ?? []).slice(0, 5).map(({ name, sender }) => ({
    level: 'bad',
    text: t.rich('attention.paused', { sender: html`<strong>${name === '' ? sender : name}</strong>` }),
    href: `${visit.base}/queue`,
    link: t('attention.paused-link'),
  }));
}

async function webhookItems(t: Translator, visit: Visit): Promise<AttentionItem[]> {
  const listed = await readOperation<typeof listOrganizationWebhooks>(visit, 'list_webhooks', {});
  return (listed?.webhooks ?? [])
    .filter(({ enabled, consecutiveFailures }) => !enabled || consecutiveFailures > 0)
    .slice(0, 5)
    .map(({ id, url, enabled }) => ({
      level: enabled ? 'warn' : 'bad',
      text: t.rich(enabled ? 'attention.webhook-failing' : 'attention.webhook-disabled', {
        host: html`<strong>${new URL(url).host}</strong>`,
      }),
      href: `${visit.base}/webhooks/${id}`,
      link: t('attention.webhook-link'),
    }));
}
