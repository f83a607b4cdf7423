import type { traceMessage } from '../../operations/trace/trace.ts';
import { type FolderMove, folderMoves } from '../../trace/folder-moves.ts';
import { address, tag, timestamp } from '../components.ts';
import { html, type Html, type HtmlPart } from '../html.ts';
import type { Translator } from '../translator.ts';
import type { OutputOf } from '../visit.ts';
import type { MessageCopies } from './message-copies.ts';

type TraceResult = OutputOf<typeof traceMessage>;
type Event = TraceResult['timeline'][number];
type Look = 'ok' | 'warn' | 'bad' | '';

const LOOKS: Readonly<Partial<Record<Event['event'], Look>>> = {
  deferred: 'warn',
  delivered: 'ok',
  bounced: 'bad',
  complained: 'bad',
};

interface TimelineItem {
  at: number;
  name: string;
  look: Look;
  /** Mail address; '': all recipients. */
  recipient: string;
  details: HtmlPart;
}

/** The history of a message, oldest first: the journal, and moves between folders. */
export function messageTimeline(t: Translator, { timeline, message }: TraceResult, copies: MessageCopies): Html {
  const moves = folderMoves(copies.stays, Date.parse(message.at)).map((move) => moveItem(t, move));
  const items = [...timeline.map((event) => eventItem(t, event)), ...moves].toSorted((a, b) => a.at - b.at);
  return html`<section>
    <h2>${t('junk.timeline')}</h2>
    <ol class="timeline">
      ${items.map(({ at, name, look, recipient, details }) => {
        const whom = recipient !== '' && html` <span>${address(recipient)}</span>`;
        return html`<li class="${look}">
          <p>${tag(name, look)}${whom} <span class="small soft">${timestamp(at, t)}</span></p>
          ${details}
        </li>`;
      })}
    </ol>
    ${message.moreEvents !== undefined && html`<p class="small soft">${t('log.between', { count: message.moreEvents })}</p>`}
  </section>`;
}

function eventItem(t: Translator, { at, event, recipient, explanation, ...rest }: Event): TimelineItem {
  const details = html`<p>${t.english(explanation)}</p>
    ${replyOf(rest)}`;
  return {
    at: Date.parse(at),
    name: t(`log-event.${event}`),
    look: LOOKS[event] ?? '',
    recipient: recipient ?? '',
    details,
  };
}

/** Reply of the other side, with its host. */
function replyOf({ host, tls, code, enhancedCode, untrusted }: Partial<Event>): HtmlPart {
  const codes = [code, enhancedCode].filter((one) => one !== undefined).join(' ');
  const where = [host, tls].filter((one) => one !== undefined && one !== '').join(', ');
  if (codes === '' && where === '' && untrusted === undefined) return undefined;
  return html`<p class="small soft">
    ${where !== '' && html`<bdi>${where}</bdi> `}${codes}
    ${untrusted !== undefined && html`<q class="said" dir="auto">${untrusted.text}</q>`}
  </p>`;
}

function moveItem(t: Translator, { at, address: recipient, kind, from, to }: FolderMove): TimelineItem {
  const details = html`<p>${t(`log-moved.${kind}`, { from, to })}</p>`;
  return { at, name: t(`log-move.${kind}`), look: '', recipient, details };
}
