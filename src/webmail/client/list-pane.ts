import { useEffect, useRef, useState } from 'preact/hooks';
import { afterPaint } from './after-paint.ts';
import { isInRole, mayTake, setKeyword } from './actions.ts';
import { folderName } from './folder-names.ts';
import { nameOf, shortTime, fullTime } from './format.ts';
import { Icon, IconButton } from './icons.ts';
import { LabelChips } from './label-menu.ts';
import { isOwnAddress, openFolder, type ThreadRow } from './mail-state.ts';
import { may } from './rights.ts';
import { hrefOf, route } from './route.ts';
import { isSelected, selectedCount, toggleSelected } from './selection.ts';
import { SelectAll, SelectionBar } from './selection-bar.ts';
import { listKey, listOfRoute, loadThread, showRows, threadList } from './thread-list.ts';
import { attempt } from './notices.ts';
import { withPending } from './pending-keywords.ts';
import { dragThread } from './thread-drag.ts';
import { SNOOZED_SEARCH } from './snoozed.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** Height of a row in CSS pixels, as in style.css. */
const ROW = 76;
/** Rows that are rendered beyond the visible ones, but not before these are painted. */
const MARGIN = 8;
/** Guess of the height before it is known. */
const MAX_HEIGHT = 800;

/** The list of threads; only visible rows are in the document. */
export function ListPane() {
  const pane = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(() => Math.min(innerHeight, MAX_HEIGHT));
  const [margin, setMargin] = useState(0);
  const { key, total, rows, loading, problem } = listOfRoute();
  const from = Math.max(0, Math.floor(top / ROW) - margin);
  const to = Math.min(total, Math.ceil((top + height) / ROW) + margin);
  useEffect(() => {
    pane.current?.scrollTo(0, 0);
  }, [key]);
  useEffect(() => {
    if (total > 0) void attempt(() => showRows(from, to));
  }, [from, to, total, key]);
  useEffect(() => {
    const element = pane.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (total > 0) void afterPaint().then(() => setMargin(MARGIN));
  }, [total > 0]);
  const isSelecting = selectedCount() > 0;
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
  return html`<section class="list" aria-label=${t('list.messages')}>
    <div class="list-top ${isSelecting ? 'selecting' : ''}">
      <${SelectAll} />
      ${isSelecting ? html`<${SelectionBar} />` : html`<${ListHead} />`}
    </div>
    <div
      class="rows"
      ref=${pane}
      tabindex="-1"
      onScroll=${(event: Event) => setTop((event.target as HTMLElement).scrollTop)}
    >
      ${problem !== '' && html`<p class="empty" role="alert">${problem}</p>`}
      ${!loading && total === 0 && problem === '' && html`<${EmptyList} />`}
      <ul style=${{ height: `${total * ROW}px` }}>
        ${shown.map((index) => html`<${ListRow} key=${rows.get(index)?.id ?? index} index=${index} row=${rows.get(index)} />`)}
      </ul>
    </div>
  </section>`;
}

function ListHead() {
  const { total, loading } = listOfRoute();
  const title =
    route.value.folder === 'search'
      ? searchTitle(route.value.search)
      : openFolder.value !== undefined && folderName(openFolder.value);
  return html`<header class="list-head">
    <h1>${title}</h1>
    <span class="soft" role="status">${loading ? t('list.loading') : t('list.count', { count: total })}</span>
  </header>`;
}

const searchTitle = (search: string): string =>
  search === SNOOZED_SEARCH ? t('folder.snoozed') : t('list.results', { search });

function EmptyList() {
  const text =
    route.value.folder === 'search'
      ? t('list.nothing-found')
      : openFolder.value?.role === 'inbox'
        ? t('list.inbox-empty')
        : t('list.empty');
  return html`<p class="empty">${text}</p>`;
}

function ListRow({ index, row }: { index: number; row: ThreadRow | undefined }) {
  const style = { transform: `translateY(${index * ROW}px)` };
  if (row === undefined) return html`<li class="row blank" style=${style} aria-hidden="true"></li>`;
  const { id, email } = row;
  const emails = withPending(row.emails);
  const unread = emails.some(({ keywords }) => keywords['$seen'] !== true && keywords['$draft'] !== true);
  const starred = emails.some(({ keywords }) => keywords['$flagged'] === true);
  const isOpen = route.value.thread === id;
  const subject = email.subject === null || email.subject === '' ? t('list.no-subject') : email.subject;
  const classes = ['row', unread ? 'unread' : '', isOpen ? 'current' : '', isSelected(id) ? 'selected' : ''].join(' ');
  const ahead = (): void => void loadThread(id).catch(() => undefined);
  return html`<li class=${classes} style=${style} aria-setsize=${threadList.value.total} aria-posinset=${index + 1}>
    <input
      type="checkbox"
      checked=${isSelected(id)}
      aria-label=${t('list.select', { subject })}
      onChange=${() => toggleSelected(id)}
    />
    <a
      href=${hrefOf({ ...route.value, thread: id })}
      data-thread=${id}
      draggable=${mayTake(emails)}
      aria-current=${isOpen ? 'true' : undefined}
      onMouseEnter=${ahead}
      onFocus=${ahead}
      onDragStart=${(event: DragEvent) => dragThread(event, row)}
    >
      <span class="who">${people(row)}${emails.length > 1 && html` <span class="soft">${emails.length}</span>`}</span>
      <time datetime=${email.receivedAt} onMouseEnter=${showFullTime}>${shortTime(email.receivedAt)}</time>
      <span class="subject"
        >${unread && html`<span class="hidden">${t('list.unread')} </span>`}<${LabelChips}
          emails=${emails}
          links=${false}
        />${subject}</span
      >
      <span class="preview">${email.preview}</span>
    </a>
    <span class="marks">
      ${email.hasAttachment && html`<span title=${t('list.has-attachment')}><${Icon} name="attach" /></span>`}
      ${
        may('maySetKeywords', emails) &&
        html`<${IconButton}
          icon="star"
          label=${starred ? t('list.unstar', { subject }) : t('list.star', { subject })}
          pressed=${starred}
          className="star"
          onClick=${() => void setKeyword(starred ? emails : emails.filter((one) => one.id === email.id), '$flagged', !starred)}
        />`
      }
    </span>
  </li>`;
}

/** Says the whole time under the pointer: formatting it for each row would take longer than the rows. */
function showFullTime({ currentTarget }: Event): void {
  const time = currentTarget as HTMLTimeElement;
  time.title = fullTime(time.dateTime);
}

/** Names of those in a thread; in Sent and Drafts, its recipients. */
function people({ email, emails }: ThreadRow): string {
  if (isInRole('sent') || isInRole('drafts')) {
    const to = (email.to ?? []).map(nameOf).join(', ');
    return to === '' ? t('list.no-recipient') : t('list.to', { names: to });
  }
  const names = emails
    .flatMap(({ from }) => from ?? [])
    .map((one) => (isOwnAddress(one.email) ? t('list.me') : nameOf(one)));
  const unique = [...new Set(names)];
  return unique.length === 0 ? t('list.unknown-sender') : unique.slice(-3).join(', ');
}

/** Opens the next or previous thread of the list. */
export function stepThread(step: number): void {
  const { rows } = threadList.value;
  const current = [...rows].find(([, row]) => row.id === route.value.thread)?.[0];
  const next = rows.get(current === undefined ? 0 : current + step);
  if (next === undefined || listKey() !== threadList.value.key) return;
  location.hash = hrefOf({ ...route.value, thread: next.id });
  document.querySelector(`[data-thread="${CSS.escape(next.id)}"]`)?.scrollIntoView({ block: 'nearest' });
}
