import { useEffect, useRef, useState } from 'preact/hooks';
import { destroyEmails, isInRole, moveToRole, setKeyword } from './actions.ts';
import { folderName } from './folder-names.ts';
import { nameOf, shortTime, fullTime } from './format.ts';
import { Icon, IconButton } from './icons.ts';
import { LabelChips, LabelMenu } from './label-menu.ts';
import { isOwnAddress, openFolder, selection, type ThreadMember, type ThreadRow } from './mail-state.ts';
import { MoveMenu } from './move-menu.ts';
import { hrefOf, route } from './route.ts';
import { listKey, listOfRoute, loadThread, showRows, threadList } from './thread-list.ts';
import { attempt } from './notices.ts';
import { SNOOZED_SEARCH } from './snoozed.ts';
import { SnoozeMenu } from './snooze.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** Height of a row in CSS pixels, as in style.css. */
const ROW = 76;
/** Rows that are rendered beyond the visible ones. */
const MARGIN = 8;

/** The list of threads; only visible rows are in the document. */
export function ListPane() {
  const pane = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  const { key, total, rows, loading, problem } = listOfRoute();
  const from = Math.max(0, Math.floor(top / ROW) - MARGIN);
  const to = Math.min(total, Math.ceil((top + height) / ROW) + MARGIN);
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
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
  return html`<section class="list" aria-label=${t('list.messages')}>
    ${selection.value.size > 0 ? html`<${SelectionBar} />` : html`<${ListHead} />`}
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

/** Emails of the selected rows that are loaded. */
function selectedEmails(): ThreadMember[] {
  return [...threadList.value.rows.values()]
    .filter(({ id }) => selection.value.has(id))
    .flatMap(({ emails }) => emails);
}

function SelectionBar() {
  const emails = selectedEmails();
  const anyUnread = emails.some(({ keywords }) => keywords['$seen'] !== true);
  return html`<header class="list-head selection" role="toolbar" aria-label=${t('list.selection')}>
    <${IconButton} icon="close" label=${t('list.clear-selection')} onClick=${() => (selection.value = new Set())} />
    <strong>${t('list.selected', { count: selection.value.size })}</strong>
    <${IconButton} icon="archive" label=${t('act.archive')} onClick=${() => void moveToRole(emails, 'archive')} />
    <${IconButton} icon="junk" label=${t('act.junk')} onClick=${() => void moveToRole(emails, 'junk')} />
    ${
      isInRole('trash')
        ? html`<${IconButton}
            icon="trash"
            label=${t('act.delete')}
            onClick=${() => confirm(t('list.confirm-delete')) && void destroyEmails(emails)}
          />`
        : html`<${IconButton} icon="trash" label=${t('act.trash')} onClick=${() => void moveToRole(emails, 'trash')} />`
    }
    <${IconButton}
      icon="unread"
      label=${anyUnread ? t('act.mark-read') : t('act.mark-unread')}
      onClick=${() => void setKeyword(emails, '$seen', anyUnread)}
    />
    <${SnoozeMenu} emails=${emails} />
    <${MoveMenu} emails=${emails} />
    <${LabelMenu} emails=${emails} />
  </header>`;
}

function toggle(id: string): void {
  const next = new Set(selection.value);
  if (!next.delete(id)) next.add(id);
  selection.value = next;
}

function ListRow({ index, row }: { index: number; row: ThreadRow | undefined }) {
  const style = { transform: `translateY(${index * ROW}px)` };
  if (row === undefined) return html`<li class="row blank" style=${style} aria-hidden="true"></li>`;
  const { id, email, emails } = row;
  const unread = emails.some(({ keywords }) => keywords['$seen'] !== true && keywords['$draft'] !== true);
  const starred = emails.some(({ keywords }) => keywords['$flagged'] === true);
  const isOpen = route.value.thread === id;
  const subject = email.subject === null || email.subject === '' ? t('list.no-subject') : email.subject;
  const classes = [
    'row',
    unread ? 'unread' : '',
    isOpen ? 'current' : '',
    selection.value.has(id) ? 'selected' : '',
  ].join(' ');
  const ahead = (): void => void loadThread(id).catch(() => undefined);
  return html`<li class=${classes} style=${style} aria-setsize=${threadList.value.total} aria-posinset=${index + 1}>
    <input
      type="checkbox"
      checked=${selection.value.has(id)}
      aria-label=${t('list.select', { subject })}
      onChange=${() => toggle(id)}
    />
    <a
      href=${hrefOf({ ...route.value, thread: id })}
      data-thread=${id}
      draggable="true"
      aria-current=${isOpen ? 'true' : undefined}
      onMouseEnter=${ahead}
      onFocus=${ahead}
      onDragStart=${(event: DragEvent) => event.dataTransfer?.setData('text/x-thread', id)}
    >
      <span class="who">${people(row)}${emails.length > 1 && html` <span class="soft">${emails.length}</span>`}</span>
      <time datetime=${email.receivedAt} title=${fullTime(email.receivedAt)}>${shortTime(email.receivedAt)}</time>
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
      <${IconButton}
        icon="star"
        label=${starred ? t('list.unstar', { subject }) : t('list.star', { subject })}
        pressed=${starred}
        className="star"
        onClick=${() => void setKeyword(starred ? emails : [email], '$flagged', !starred)}
      />
    </span>
  </li>`;
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
