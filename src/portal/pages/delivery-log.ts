import type { traceMessage } from '../../operations/trace/trace.ts';
import { field, EMPTY_FORM } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import type { Page } from '../page.ts';
import { address, bytes, emptyState, descriptionList, pageHead, timestamp, table, tag } from '../components.ts';
import { type OutputOf, readOperation, type Visit } from '../visit.ts';

type TraceResult = OutputOf<typeof traceMessage>;
type Event = TraceResult['timeline'][number];

/** Delivery log of one message, by Message-ID, address or id. */
export const deliveryLog: Page = {
  path: '/trace',
  name: 'Delivery log',
  menu: 'Mail',
  needs: 'trace_message',
  notices: {},
  actions: {},
  async show(visit, { query }) {
    const given = query['q'];
    const wanted = typeof given === 'string' ? given.trim().slice(0, 998) : '';
    const found = wanted === '' ? undefined : await findTrace(visit, wanted);
    return html`${pageHead('Delivery log', 'Every event of a message: acceptance, delivery attempts, remote replies and the next step.')}
    ${search(visit, wanted)}
    ${found !== undefined ? timelineSections(visit, found) : wanted !== '' && emptyState('No message found', NOT_FOUND)}`;
  },
};

const NOT_FOUND =
  'This organization has no message with this address, Message-ID or id. Logs are kept for 90 days; searches by address cover 30 days.';

/** Finds a message. Tries both for text with @: a Message-ID without angle brackets looks like an address. */
export async function findTrace(visit: Visit, wanted: string): Promise<TraceResult | undefined> {
  const ask = (input: Parameters<typeof readOperation<typeof traceMessage>>[2]): Promise<TraceResult | undefined> =>
    readOperation<typeof traceMessage>(visit, 'trace_message', input);
  if (!wanted.includes('@')) return ask({ messageId: wanted });
  return (wanted.includes('<') ? undefined : await ask({ address: wanted })) ?? ask({ rfc822MessageId: wanted });
}

function search({ base }: Visit, wanted: string): HtmlPart {
  const hint = 'A Message-ID, the address of a sender or recipient, or an id from a list or the log.';
  return html`<form class="sheet" method="get" action="${base}/trace">
    ${field({ name: 'q', label: 'Message', value: wanted, hint, autocomplete: 'off' }, EMPTY_FORM)}
    <button>Search</button>
  </form>`;
}

function timelineSections(visit: Visit, { message, envelope, timeline, sha256, alsoFound }: TraceResult): HtmlPart {
  const messageId = message.rfc822MessageId ?? message.untrusted?.rfc822MessageId;
  return html`<section>
      <h2>The message</h2>
      ${descriptionList([
        ['Sender', envelope.mailFrom === '' ? 'A server (bounce or report)' : envelope.mailFrom],
        ['Recipients', envelope.rcptTo.join(', ')],
        ['Received', timestamp(message.at)],
        ['ID', message.messageId],
        messageId !== undefined && ['Message-ID', messageId],
        message.bytes !== null && ['Size', bytes(message.bytes)],
        message.waiting > 0 && ['Pending', `${message.waiting} ${message.waiting === 1 ? 'recipient' : 'recipients'}`],
        sha256 !== null && ['SHA-256', sha256],
      ])}
    </section>
    <section>
      <h2>Events</h2>
      ${table('Events', ['Time', 'Event', 'Recipient', 'Details'], timeline.map(row))}
    </section>
    ${others(visit, alsoFound)}`;
}

const LOOK: Readonly<Record<Event['event'], 'ok' | 'warn' | 'bad' | ''>> = {
  accepted: '',
  policy: 'warn',
  queued: '',
  attempt: '',
  deferred: 'warn',
  delivered: 'ok',
  bounced: 'bad',
  complained: 'bad',
  relayed: '',
  webhook: '',
};

function row({ at, event, recipient, host, tls, explanation, untrusted }: Event): HtmlPart[] {
  const where = [host, tls].filter((one) => one !== undefined && one !== '').join(', ');
  return [
    timestamp(at),
    tag(event, LOOK[event]),
    recipient === undefined ? '' : address(recipient),
    [
      explanation,
      untrusted !== undefined && html` <span class="soft">Remote server: <bdi>${untrusted.text}</bdi></span>`,
      where !== '' && html` <span class="soft">${where}</span>`,
    ],
  ];
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
