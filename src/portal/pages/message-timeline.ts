import type { traceMessage } from '../../operations/trace/trace.ts';
import { type FolderMove, folderMoves } from '../../trace/folder-moves.ts';
import { address, tag, timestamp } from '../components.ts';
import { html, type Html, type HtmlPart } from '../html.ts';
import type { OutputOf } from '../visit.ts';
import type { MessageCopies } from './message-copies.ts';

type TraceResult = OutputOf<typeof traceMessage>;
type Event = TraceResult['timeline'][number];
type Look = 'ok' | 'warn' | 'bad' | '';

const NAMES: Readonly<Record<Event['event'], readonly [string, Look]>> = {
  accepted: ['Accepted', ''],
  policy: ['Policy', ''],
  queued: ['Queued', ''],
  attempt: ['Attempt', ''],
  deferred: ['Deferred', 'warn'],
  delivered: ['Delivered', 'ok'],
  bounced: ['Bounced', 'bad'],
  complained: ['Spam complaint', 'bad'],
  relayed: ['Forwarded', ''],
  webhook: ['Webhook', ''],
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
export function messageTimeline({ timeline, message }: TraceResult, copies: MessageCopies): Html {
  const moves = folderMoves(copies.stays, Date.parse(message.at)).map(moveItem);
  const items = [...timeline.map(eventItem), ...moves].toSorted((a, b) => a.at - b.at);
  return html`<section>
    <h2>Timeline</h2>
    <ol class="timeline">
      ${items.map(({ at, name, look, recipient, details }) => {
        const whom = recipient !== '' && html` <span>${address(recipient)}</span>`;
        return html`<li class="${look}">
          <p>${tag(name, look)}${whom} <span class="small soft">${timestamp(at)}</span></p>
          ${details}
        </li>`;
      })}
    </ol>
    ${message.moreEvents !== undefined && html`<p class="small soft">${message.moreEvents} events between are not shown.</p>`}
  </section>`;
}

function eventItem({ at, event, recipient, explanation, ...rest }: Event): TimelineItem {
  const [name, look] = NAMES[event];
  const details = html`<p>${explanation}</p>
    ${replyOf(rest)}`;
  return { at: Date.parse(at), name, look, recipient: recipient ?? '', details };
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

const MOVES: Readonly<Record<FolderMove['kind'], (move: FolderMove) => readonly [string, string]>> = {
  moved: ({ from, to }) => ['Moved', `From ${from} to ${to}.`],
  copied: ({ to }) => ['Stored', `In ${to}.`],
  deleted: ({ from }) => ['Deleted', `From ${from}.`],
};

function moveItem(move: FolderMove): TimelineItem {
  const [name, text] = MOVES[move.kind](move);
  return { at: move.at, name, look: '', recipient: move.address, details: html`<p>${text}</p>` };
}
