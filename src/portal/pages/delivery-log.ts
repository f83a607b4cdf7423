import type { traceMessage } from '../../operations/trace/trace.ts';
import { field, EMPTY_FORM } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import type { Page } from '../page.ts';
import { bytes, emptyState, descriptionList, pageHead, timestamp } from '../components.ts';
import { type OutputOf, readOperation, type Visit } from '../visit.ts';
import { copiesOf, filterSection, folderTable } from './message-copies.ts';
import { messageTimeline } from './message-timeline.ts';

type TraceResult = OutputOf<typeof traceMessage>;

/** Delivery log of one message, by Message-ID, address or id. */
export const deliveryLog: Page = {
  path: '/trace',
  name: 'Delivery log',
  menu: 'Mail',
  needs: 'trace_message',
  notices: {},
  actions: {},
  calls: (_visit, { query }) => [{ name: 'trace_message', arguments: argumentsFor(wantedIn(query))[0] ?? {} }],
  async show(visit, { query }) {
    const wanted = wantedIn(query);
    const found = wanted === '' ? undefined : await findTrace(visit, wanted);
    return html`${pageHead('Delivery log', 'Every event of a message: acceptance, delivery attempts, remote replies and the next step.')}
    ${search(visit, wanted)}
    ${found !== undefined ? await messageSections(visit, found) : wanted !== '' && emptyState('No message found', NOT_FOUND)}`;
  },
};

const NOT_FOUND =
  'This organization has no message with this address, Message-ID or id. Logs are kept for 90 days; searches by address cover 30 days.';

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

function search({ base }: Visit, wanted: string): HtmlPart {
  const hint = 'A Message-ID, the address of a sender or recipient, or an id from a list or the log.';
  return html`<form class="sheet" method="get" action="${base}/trace">
    ${field({ name: 'q', label: 'Message', value: wanted, hint, autocomplete: 'off' }, EMPTY_FORM)}
    <button>Search</button>
  </form>`;
}

async function messageSections(visit: Visit, found: TraceResult): Promise<HtmlPart> {
  const copies = await copiesOf(visit, found.message.mailboxMessageIds);
  return [
    envelopeSection(found),
    folderTable(visit, copies),
    filterSection(copies),
    messageTimeline(found, copies),
    others(visit, found.alsoFound),
  ];
}

function envelopeSection({ message, envelope, sha256 }: TraceResult): HtmlPart {
  const messageId = message.rfc822MessageId ?? message.untrusted?.rfc822MessageId;
  return html`<section>
    <h2>Message</h2>
    ${descriptionList([
      ['Sender', envelope.mailFrom === '' ? 'A server (bounce or report)' : envelope.mailFrom],
      ['Recipients', envelope.rcptTo.join(', ')],
      [message.direction === 'sent' ? 'Accepted' : 'Received', timestamp(message.at)],
      ['ID', message.messageId],
      messageId !== undefined && ['Message-ID', messageId],
      message.bytes !== null && ['Size', bytes(message.bytes)],
      message.waiting > 0 && ['Pending', `${message.waiting} ${message.waiting === 1 ? 'recipient' : 'recipients'}`],
      sha256 !== null && ['SHA-256', sha256],
    ])}
  </section>`;
}

function others({ base }: Visit, all: TraceResult['alsoFound']): HtmlPart {
  return (
    all.length > 0 &&
    html`<section>
      <h2>Other matches</h2>
      <ul>
        ${all.map(({ messageId, at }) => html`<li><a href="${base}/trace?q=${messageId}">${messageId}</a> ${timestamp(at)}</li>`)}
      </ul>
    </section>`
  );
}

/** Link to the delivery log of a message or an address. */
export function deliveryLogLink({ base }: Visit, wanted: string, label = 'Delivery log'): HtmlPart {
  return html`<a class="button quiet" href="${base}/trace?q=${encodeURIComponent(wanted)}">${label}</a>`;
}
