/** Method calls of requests that both the page and, for its first list, the server make: no browser is needed here. */
export type JmapCall = readonly [name: string, args: Record<string, unknown>];

/** Rows of one request. */
export const WINDOW = 40;

/** Properties of an email as the list shows it. */
export const SUMMARY = [
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
/** Properties of an email as a thread's other emails have them. */
export const MEMBER = ['id', 'threadId', 'mailboxIds', 'keywords', 'from', 'receivedAt'];

/** Calls of a request with their account and their position as the id. RFC 8620 3.2. */
export function methodCallsOf(accountId: string, calls: readonly JmapCall[]): [string, object, string][] {
  return calls.map(([name, args], at) => [name, { accountId, ...args }, String(at)]);
}

export const FOLDER_CALLS: readonly JmapCall[] = [['Mailbox/get', { ids: null }]];
export const IDENTITY_CALLS: readonly JmapCall[] = [['Identity/get', { ids: null }]];

const NEWEST_FIRST = { property: 'receivedAt', isAscending: false };
const BACK_FIRST = { property: 'hasKeyword', keyword: '$new', isAscending: false };

/** A list without its window. */
export interface ListQuery extends Record<string, unknown> {
  filter: Record<string, unknown>;
  sort: readonly object[];
  collapseThreads: boolean;
}

/** Lists messages by a filter, newest first. */
export const listQueryOf = (filter: Record<string, unknown>, sort: readonly object[] = [NEWEST_FIRST]): ListQuery => ({
  filter,
  sort,
  collapseThreads: true,
});

/** Lists a folder; `snoozed`: all messages that are snoozed or came back from it. */
export function folderQueryOf(folder: string, snoozed: readonly { back: boolean }[]): ListQuery {
  // Without snoozed messages the server counts nothing: it knows the total of a folder.
  const isHiding = snoozed.some(({ back }) => !back);
  const filter = isHiding
    ? { operator: 'AND', conditions: [{ inMailbox: folder }, { notKeyword: '$snoozed' }] }
    : { inMailbox: folder };
  // Messages that came back are at the top. Sorting by a keyword reads the whole folder.
  const sort = snoozed.some(({ back }) => back) ? [BACK_FIRST, NEWEST_FIRST] : [NEWEST_FIRST];
  return listQueryOf(filter, sort);
}

/**
 * Reads one window of threads, with all emails of each for its state and its people. The last call fails if these are more
 * than one /get returns.
 */
export function windowCalls(query: ListQuery, position: number): JmapCall[] {
  return [
    ['Email/query', { ...query, calculateTotal: true, position, limit: WINDOW }],
    ['Email/get', { '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: SUMMARY }],
    ['Thread/get', { '#ids': { resultOf: '1', name: 'Email/get', path: '/list/*/threadId' } }],
    ['Email/get', { '#ids': { resultOf: '2', name: 'Thread/get', path: '/list/*/emailIds' }, properties: MEMBER }],
  ];
}
