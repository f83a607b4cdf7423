import { signal } from '@preact/signals';
import type { EmailSummary, FullEmail } from './jmap-types.ts';
import { currentAccount, MailError, type MethodOutcome, methods, methodsOrErrors, succeeded } from './jmap.ts';
import { folderQueryOf, type ListQuery, listQueryOf, MEMBER, SUMMARY, WINDOW, windowCalls } from './mail-requests.ts';
import type { ThreadMember, ThreadRow } from './mail-state.ts';
import { type KeywordChange, withKeyword } from './pending-keywords.ts';
import { route, showsSettings } from './route.ts';
import { searchFilter } from './search-query.ts';
import { snoozed } from './snoozed.ts';

/** Windows that stay loaded. */
const MAX_WINDOWS = 25;

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

/** Stores a keyword in the rows that are loaded. */
export function keepKeywordInList(made: KeywordChange): void {
  const rows = [...threadList.value.rows].map(([index, row]): [number, ThreadRow] => [
    index,
    { ...row, emails: withKeyword(row.emails, made) },
  ]);
  threadList.value = { ...threadList.value, rows: new Map(rows) };
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

/** The query of the open list, without a window. */
export function listQuery(): ListQuery {
  const { folder, search } = route.value;
  return folder === 'search' ? listQueryOf(searchFilter(search)) : folderQueryOf(folder, snoozed.value);
}

/** State of the emails that were read last. */
let readState: unknown;

/** Tests if emails were changed since the list was read. */
export async function isListStale(): Promise<boolean> {
  const known = readState;
  const [found] = await methods(['Email/get', { ids: [] }]);
  return known !== undefined && found?.['state'] !== known;
}

async function queryWindow(position: number): Promise<{ total: number; rows: [number, ThreadRow][] }> {
  const [found, emails, threads, all] = await methodsOrErrors(...windowCalls(listQuery(), position));
  readState = succeeded(emails)['state'];
  const summaries = new Map(listIn<EmailSummary>(emails).map((one) => [one.id, one]));
  // Threads of more emails than one response may have are read in parts.
  const known = all instanceof MailError ? summaries : new Map(listIn<ThreadMember>(all).map((one) => [one.id, one]));
  const members = await membersOf(listIn<{ id: string; emailIds: string[] }>(threads), known);
  const ids = (succeeded(found)['ids'] ?? []) as string[];
  const rows = ids.flatMap((id, at): [number, ThreadRow][] => {
    const email = summaries.get(id);
    if (email === undefined) return [];
    return [[position + at, { id: email.threadId, email, emails: members.get(email.threadId) ?? [email] }]];
  });
  return { total: Number(succeeded(found)['total'] ?? ids.length), rows };
}

const listIn = <Item>(result: MethodOutcome | undefined): Item[] => (succeeded(result)['list'] ?? []) as Item[];

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
];
const VERDICT = ['mailstead:trust', 'mailstead:verdict'];
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

/** Arguments of Email/get for whole emails. */
const wholeEmails = (): Record<string, unknown> => ({
  properties: currentAccount().hasVerdicts ? [...FULL, ...VERDICT] : FULL,
  fetchTextBodyValues: true,
  fetchHTMLBodyValues: true,
  maxBodyValueBytes: MAX_BODY_OCTETS,
});

/** Loads one email; undefined if it was deleted. */
export async function loadEmail(id: string): Promise<FullEmail | undefined> {
  const [found] = await methods(['Email/get', { ids: [id], ...wholeEmails() }]);
  return ((found?.['list'] ?? []) as FullEmail[])[0];
}

async function fetchThread(id: string): Promise<FullEmail[]> {
  const [, emails] = await methods(
    ['Thread/get', { ids: [id] }],
    [
      'Email/get',
      {
        '#ids': { resultOf: '0', name: 'Thread/get', path: '/list/*/emailIds' },
        ...wholeEmails(),
      },
    ],
  );
  const list = (emails?.['list'] ?? []) as FullEmail[];
  return list.toSorted((a, b) => a.receivedAt.localeCompare(b.receivedAt));
}
