import type { traceMessage } from '../../operations/trace/trace.ts';
import { field, EMPTY_FORM } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import type { Page } from '../page.ts';
import { bytes, emptyState, descriptionList, pageHead, timestamp } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, readOperation, type Visit } from '../visit.ts';
import { readMessageCopies, filterSection, folderTable } from './message-copies.ts';
import { messageTimeline } from './message-timeline.ts';

type TraceResult = OutputOf<typeof traceMessage>;

/** Delivery log of one message, by Message-ID, address or id. */
export const deliveryLog: Page = {
  path: '/trace',
  name: 'Delivery log',
  translated: true,
  menu: 'Mail',
  needs: 'trace_message',
  notices: {},
  actions: {},
  calls: (_visit, { query }) => [{ name: 'trace_message', arguments: argumentsFor(wantedIn(query))[0] ?? {} }],
  async show(visit, { query }) {
    const wanted = wantedIn(query);
    const found = wanted === '' ? undefined : await findTrace(visit, wanted);
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Delivery log'), t('log.about'))} ${search(t, visit, wanted)}
    ${found !== undefined ? await messageSections(t, visit, found) : wanted !== '' && emptyState(t('log.none'), t('log.none-text'))}`;
  },
};

function wantedIn(query: Readonly<Record<string, unknown>>): string {
  const given = query['q'];
  return typeof given === 'string' ? given.trim().slice(0, 998) : '';
}

type TraceInput = Parameters<typeof readOperation<typeof traceMessage>>[2];

/** Arguments to try in order. Both for text with @: a Message-ID without angle brackets looks like an address. */
function argumentsFor(wanted: string): TraceInput[] {
  if (wanted === '') return [];
  if (!wanted.includes('@')) return [{ messageId: wanted }];
  return [...(wanted.includes('<') ? [] : [{ address: wanted }]), { rfc822MessageId: wanted }];
}

/** Finds a message by an id, a Message-ID or an address. */
export async function findTrace(visit: Visit, wanted: string): Promise<TraceResult | undefined> {
  for (const input of argumentsFor(wanted)) {
    const found = await readOperation<typeof traceMessage>(visit, 'trace_message', input);
    if (found !== undefined) return found;
  }
  return undefined;
}

function search(t: Translator, { base }: Visit, wanted: string): HtmlPart {
  return html`<form class="sheet" method="get" action="${base}/trace">
    ${field({ name: 'q', label: t('find.message'), value: wanted, hint: t('log.hint'), autocomplete: 'off' }, EMPTY_FORM)}
    <button>${t('find.button')}</button>
  </form>`;
}

async function messageSections(t: Translator, visit: Visit, found: TraceResult): Promise<HtmlPart> {
  const copies = await readMessageCopies(visit, found.message.mailboxMessageIds);
  return [
    envelopeSection(t, found),
    folderTable(t, visit, copies),
    filterSection(t, copies),
    messageTimeline(t, found, copies),
    others(t, visit, found.alsoFound),
  ];
}

function envelopeSection(t: Translator, { message, envelope, sha256 }: TraceResult): HtmlPart {
  const messageId = message.rfc822MessageId ?? message.untrusted?.rfc822MessageId;
  return html`<section>
    <h2>${t('find.message')}</h2>
    ${descriptionList([
      [t('rule.sender'), envelope.mailFrom === '' ? t('log.a-server') : envelope.mailFrom],
      [t('approval.recipients'), envelope.rcptTo.join(', ')],
      [t(message.direction === 'sent' ? 'log.accepted' : 'junk.received'), timestamp(message.at, t)],
      [t('log.id'), message.messageId],
      messageId !== undefined && ['Message-ID', messageId],
      message.bytes !== null && [t('mailboxes.size'), bytes(message.bytes, t)],
      message.waiting > 0 && [t('log.pending'), t('log.recipients', { count: message.waiting })],
      sha256 !== null && ['SHA-256', sha256],
    ])}
  </section>`;
}

function others(t: Translator, { base }: Visit, all: TraceResult['alsoFound']): HtmlPart {
  return (
    all.length > 0 &&
    html`<section>
      <h2>${t('log.others')}</h2>
      <ul>
        ${all.map(({ messageId, at }) => html`<li><a href="${base}/trace?q=${messageId}">${messageId}</a> ${timestamp(at, t)}</li>`)}
      </ul>
    </section>`
  );
}

/** Link to the delivery log of a message or an address. */
export function deliveryLogLink({ base }: Visit, wanted: string, label: string): HtmlPart {
  return html`<a class="button quiet" href="${base}/trace?q=${encodeURIComponent(wanted)}">${label}</a>`;
}
