import type { traceMessage } from '../../operations/trace/trace.ts';
import { field, UNFILLED } from '../forms.ts';
import { html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import { address, bytes, empty, facts, head, moment, table, tag } from '../parts.ts';
import { type Answer, read, type Visit } from '../visit.ts';

type Found = Answer<typeof traceMessage>;
type Event = Found['timeline'][number];

/** What happened to one message, found by what a person has of it. */
export const trace: Page = {
  path: '/trace',
  name: 'What happened',
  menu: 'Mail',
  needs: 'trace_message',
  done: {},
  acts: {},
  async show(visit, { query }) {
    const given = query['q'];
    const wanted = typeof given === 'string' ? given.trim().slice(0, 998) : '';
    const found = wanted === '' ? undefined : await find(visit, wanted);
    return html`${head('What happened to a message', 'From when it was taken to its end: each attempt, what other servers said, and what to do.')}
    ${search(visit, wanted)}
    ${found !== undefined ? story(visit, found) : wanted !== '' && empty('Nothing is known of it', NOTHING)}`;
  },
};

const NOTHING =
  'No message with this address, Message-ID or id is yours. Stories are kept for 90 days, and looked for by address 30 days back.';

/** A Message-ID without its angle brackets looks like an address, so both are tried. */
async function find(visit: Visit, wanted: string): Promise<Found | undefined> {
  const ask = (input: Parameters<typeof read<typeof traceMessage>>[2]): Promise<Found | undefined> =>
    read<typeof traceMessage>(visit, 'trace_message', input);
  if (!wanted.includes('@')) return ask({ messageId: wanted });
  return (wanted.includes('<') ? undefined : await ask({ address: wanted })) ?? ask({ rfc822MessageId: wanted });
}

function search({ base }: Visit, wanted: string): Part {
  const hint = 'Its Message-ID, the address of its sender or of a recipient, or an id that a list or the log gives.';
  return html`<form class="sheet" method="get" action="${base}/trace">
    ${field({ name: 'q', label: 'Message', value: wanted, hint, autocomplete: 'off' }, UNFILLED)}
    <button>Look</button>
  </form>`;
}

function story(visit: Visit, { message, envelope, timeline, sha256, alsoFound }: Found): Part {
  const messageId = message.rfc822MessageId ?? message.untrusted?.rfc822MessageId;
  return html`<section>
      <h2>The message</h2>
      ${facts([
        ['Sent by', envelope.mailFrom === '' ? 'a server, as a report' : envelope.mailFrom],
        ['To', envelope.rcptTo.join(', ')],
        ['Since', moment(message.at)],
        ['Id', message.messageId],
        messageId !== undefined && ['Message-ID', messageId],
        message.bytes !== null && ['Size', bytes(message.bytes)],
        message.waiting > 0 && [
          'Waits for',
          `${message.waiting} ${message.waiting === 1 ? 'recipient' : 'recipients'}`,
        ],
        sha256 !== null && ['SHA-256', sha256],
      ])}
    </section>
    <section>
      <h2>What happened</h2>
      ${table('What happened', ['When', 'What', 'Whom', 'In words'], timeline.map(row))}
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

function row({ at, event, recipient, host, tls, explanation, untrusted }: Event): Part[] {
  const where = [host, tls].filter((one) => one !== undefined && one !== '').join(', ');
  return [
    moment(at),
    tag(event, LOOK[event]),
    recipient === undefined ? '' : address(recipient),
    [
      explanation,
      untrusted !== undefined && html` <span class="soft">They said: <bdi>${untrusted.text}</bdi></span>`,
      where !== '' && html` <span class="soft">${where}</span>`,
    ],
  ];
}

function others({ base }: Visit, all: Found['alsoFound']): Part {
  return (
    all.length > 0 &&
    html`<section>
      <h2>Others that fit</h2>
      <ul>
        ${all.map(({ messageId, at }) => html`<li><a href="${base}/trace?q=${messageId}">${messageId}</a> ${moment(at)}</li>`)}
      </ul>
    </section>`
  );
}

/** The way to the story of a message, or to those of an address. */
export function storyLink({ base }: Visit, wanted: string, label = 'What happened'): Part {
  return html`<a class="button quiet" href="${base}/trace?q=${encodeURIComponent(wanted)}">${label}</a>`;
}
