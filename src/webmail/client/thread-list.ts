import { signal } from '@preact/signals';
import type { EmailSummary, FullEmail } from './jmap-types.ts';
import { MailError, methods } from './jmap.ts';
import type { ThreadMember, ThreadRow } from './mail-state.ts';
import { route, showsSettings } from './route.ts';
import { type SearchFilter, searchFilter } from './search-query.ts';
import { sleeping, snoozed } from './snoozed.ts';

/** Rows of one request. */
const WINDOW = 40;
/** Windows that stay loaded. */
const MAX_WINDOWS = 25;

const SUMMARY = [
  'id',
  'threadId',
  'mailboxIds',
  'keywords',
  'from',
  'to',
  'subject',
  'receivedAt',
  'preview',
  'hasAttachment',
];
const MEMBER = ['id', 'threadId', 'mailboxIds', 'keywords', 'from', 'receivedAt'];

/** The list of a folder or search, of which windows are loaded as they are looked at. */
export interface ThreadListState {
  /** Key of what is listed. */
  key: string;
  total: number;
  rows: ReadonlyMap<number, ThreadRow>;
  loading: boolean;
  problem: string;
}

const EMPTY: ThreadListState = { key: '', total: 0, rows: new Map(), loading: true, problem: '' };
export const threadList = signal<ThreadListState>(EMPTY);

/** Windows that are requested or loaded, newest last. */
let windows: number[] = [];
let requests = 0;
/** The newest request of each window. */
const newest = new Map<number, number>();

/** Key of the list that the route asks for. */
export function listKey(): string {
  const { folder, search } = route.value;
  return folder === 'search' ? `search:${search}` : folder;
}

/** The list of the route; until it is opened, nothing of the one before. */
export function listOfRoute(): ThreadListState {
  const key = listKey();
  return threadList.value.key === key ? threadList.value : { ...EMPTY, key };
}

function filterOf(): SearchFilter {
  const { folder, search } = route.value;
  if (folder === 'search') return searchFilter(search);
  // Without snoozed messages the server counts nothing: it knows the total of a folder.
  if (sleeping().length === 0) return { inMailbox: folder };
  return { operator: 'AND', conditions: [{ inMailbox: folder }, { notKeyword: '$snoozed' }] };
}

const NEWEST_FIRST = { property: 'receivedAt', isAscending: false };
const BACK_FIRST = { property: 'hasKeyword', keyword: '$new', isAscending: false };

/** In a folder, messages that came back from a snooze are at the top. Sorting by a keyword reads the whole folder. */
function sortOf(): object[] {
  const anyBack = route.value.folder !== 'search' && snoozed.value.some(({ back }) => back);
  return anyBack ? [BACK_FIRST, NEWEST_FIRST] : [NEWEST_FIRST];
}

/** Opens the list of the route, from its begin. */
export async function openList(): Promise<void> {
  if (route.value.folder === '' || showsSettings()) return;
  windows = [];
  visible = { from: 0, to: 0 };
  newest.clear();
  threadList.value = { ...EMPTY, key: listKey() };
  await loadWindow(0);
}

/** Loads the windows that rows `from` to `to` are in, unless they are loaded. */
export async function showRows(from: number, to: number): Promise<void> {
  visible = { from, to };
  await Promise.all(
    visibleWindows()
      .filter((at) => !windows.includes(at))
      .map(loadWindow),
  );
}

/** Rows that are rendered. */
let visible = { from: 0, to: 0 };

function visibleWindows(): number[] {
  const first = Math.floor(visible.from / WINDOW);
  const last = Math.floor(Math.max(0, Math.min(visible.to, threadList.value.total - 1)) / WINDOW);
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, at) => first + at);
}

/** Reads the visible windows again, after a change; the others when they are looked at. */
export async function refreshList(): Promise<void> {
  if (showsSettings()) return;
  windows = [];
  await Promise.all(visibleWindows().map(loadWindow));
}

async function loadWindow(at: number): Promise<void> {
  const key = listKey();
  const request = ++requests;
  newest.set(at, request);
  windows = [...windows.filter((one) => one !== at), at].slice(-MAX_WINDOWS);
  try {
    const { total, rows } = await queryWindow(at * WINDOW);
    // An answer that a newer request has overtaken would show what was changed meanwhile.
    if (key !== listKey() || newest.get(at) !== request) return;
    const kept = [...threadList.value.rows].filter(
      ([index]) => index < total && isLoaded(index) && !inWindow(index, at),
    );
    threadList.value = { key, total, rows: new Map([...kept, ...rows]), loading: false, problem: '' };
  } catch (error) {
    if (newest.get(at) === request) windows = windows.filter((one) => one !== at);
    if (!(error instanceof MailError)) throw error;
    if (key === listKey()) threadList.value = { ...threadList.value, loading: false, problem: error.message };
  }
}

const inWindow = (index: number, at: number): boolean => Math.floor(index / WINDOW) === at;
const isLoaded = (index: number): boolean => windows.includes(Math.floor(index / WINDOW));

/** Queries one window of threads, with all emails of each for its state and its people. */
async function queryWindow(position: number): Promise<{ total: number; rows: [number, ThreadRow][] }> {
  const query = {
    filter: filterOf(),
    sort: sortOf(),
    collapseThreads: true,
    calculateTotal: true,
    position,
    limit: WINDOW,
  };
  const [found, emails, threads] = await methods(
    ['Email/query', query],
    ['Email/get', { '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: SUMMARY }],
    ['Thread/get', { '#ids': { resultOf: '1', name: 'Email/get', path: '/list/*/threadId' } }],
  );
  const ids = (found?.['ids'] ?? []) as string[];
  const summaries = new Map(((emails?.['list'] ?? []) as EmailSummary[]).map((one) => [one.id, one]));
  const members = await membersOf((threads?.['list'] ?? []) as { id: string; emailIds: string[] }[], summaries);
  const rows = ids.flatMap((id, at): [number, ThreadRow][] => {
    const email = summaries.get(id);
    if (email === undefined) return [];
    return [[position + at, { id: email.threadId, email, emails: members.get(email.threadId) ?? [email] }]];
  });
  return { total: Number(found?.['total'] ?? ids.length), rows };
}

const MAX_MEMBERS = 400;

async function membersOf(
  threads: readonly { id: string; emailIds: string[] }[],
  known: ReadonlyMap<string, ThreadMember>,
): Promise<Map<string, ThreadMember[]>> {
  const missing = threads.flatMap(({ emailIds }) => emailIds.slice(-20)).filter((id) => !known.has(id));
  const loaded = new Map<string, ThreadMember>(known);
  if (missing.length > 0) {
    const [result] = await methods(['Email/get', { ids: missing.slice(0, MAX_MEMBERS), properties: MEMBER }]);
    for (const one of (result?.['list'] ?? []) as ThreadMember[]) loaded.set(one.id, one);
  }
  return new Map(threads.map(({ id, emailIds }) => [id, emailIds.flatMap((one) => loaded.get(one) ?? [])]));
}

const FULL = [
  ...SUMMARY,
  'blobId',
  'size',
  'cc',
  'bcc',
  'replyTo',
  'messageId',
  'references',
  'inReplyTo',
  'sentAt',
  'textBody',
  'htmlBody',
  'attachments',
  'bodyValues',
  'header:List-Unsubscribe:asURLs',
  'mailstead:trust',
  'mailstead:verdict',
];
const MAX_BODY_OCTETS = 1_000_000;

/** Threads loaded ahead, by id, so that opening one is instant. */
const ahead = new Map<string, Promise<FullEmail[]>>();
const MAX_AHEAD = 20;

/** Loads all emails of a thread, oldest first. `fresh`: not what was loaded ahead. */
export function loadThread(id: string, fresh = false): Promise<FullEmail[]> {
  const known = ahead.get(id);
  if (known !== undefined && !fresh) return known;
  const loading = fetchThread(id);
  ahead.set(id, loading);
  loading.catch(() => ahead.delete(id));
  for (const [oldest] of ahead) if (ahead.size > MAX_AHEAD) ahead.delete(oldest);
  return loading;
}

export function dropLoadedThreads(): void {
  ahead.clear();
}

async function fetchThread(id: string): Promise<FullEmail[]> {
  const [, emails] = await methods(
    ['Thread/get', { ids: [id] }],
    [
      'Email/get',
      {
        '#ids': { resultOf: '0', name: 'Thread/get', path: '/list/*/emailIds' },
        properties: FULL,
        fetchTextBodyValues: true,
        fetchHTMLBodyValues: true,
        maxBodyValueBytes: MAX_BODY_OCTETS,
      },
    ],
  );
  const list = (emails?.['list'] ?? []) as FullEmail[];
  return list.toSorted((a, b) => a.receivedAt.localeCompare(b.receivedAt));
}
