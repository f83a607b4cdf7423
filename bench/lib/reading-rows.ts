import { setTimeout as sleep } from 'node:timers/promises';
import { accountId, jmapId } from '../../mail/jmap/core/ids.ts';
import { type BigAccount, wordOf } from './big-account.ts';
import { type Call, JmapWire } from './jmap-load.ts';

/** One request to an account of many messages, which is asked again and again. */
export interface ReadingRow {
  name: string;
  ask: () => Promise<unknown>;
}

const LISTED = [
  'threadId',
  'mailboxIds',
  'keywords',
  'from',
  'subject',
  'receivedAt',
  'size',
  'preview',
  'hasAttachment',
];
/** The mailbox of a filled directory. */
const MAILBOX = 'big@big.test';
const NEWEST_FIRST = [{ property: 'receivedAt', isAscending: false }];

/** Requests of a JMAP client; waits until every message is in the full text, and changes 500 messages once. */
export async function jmapRows(wire: JmapWire, big: BigAccount): Promise<ReadingRow[]> {
  const id = accountId(big.account);
  const inMailbox = jmapId('mailbox', big.inbox);
  const row = (name: string, ...calls: readonly Call[]): ReadingRow => {
    const text = JmapWire.text(...calls);
    return { name, ask: () => wire.ask(text) };
  };
  const list = (name: string, query: object): ReadingRow =>
    row(
      name,
      ['Email/query', { accountId: id, limit: 50, sort: NEWEST_FIRST, ...query }, 'q'],
      [
        'Email/get',
        { accountId: id, '#ids': { resultOf: 'q', name: 'Email/query', path: '/ids' }, properties: LISTED },
        'g',
      ],
    );
  const search = (name: string, text: string): ReadingRow =>
    row(name, ['Email/query', { accountId: id, limit: 50, filter: { text } }, 'q']);
  const page = ['Email/query', { accountId: id, limit: 50, sort: NEWEST_FIRST, filter: { inMailbox } }, 'q'] as const;
  const { q } = await wire.call(page);
  await isIndexedBy(async () => {
    const queried = JmapWire.text(['Email/query', { accountId: id, limit: 1, filter: { text: 'nothing' } }, 'q']);
    return !String(await wire.ask(queried)).includes('["error"');
  });
  return [
    row('Email/query of 50', page),
    row('Email/get of 50', ['Email/get', { accountId: id, ids: q?.['ids'], properties: LISTED }, 'g']),
    list('list of 50', { filter: { inMailbox } }),
    list('list of 50 threads', { filter: { inMailbox }, collapseThreads: true }),
    search('search, rare word', wordOf(50_000)),
    search('search, middling word', wordOf(1_000)),
    search('search, common word', wordOf(0)),
    await changesOf(wire, id, inMailbox),
  ];
}

/** Waits until every message is in the full text. */
async function isIndexedBy(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await sleep(1_000);
}

/** Changes 500 messages and asks what changed. */
async function changesOf(wire: JmapWire, accountId: string, inMailbox: string): Promise<ReadingRow> {
  const { q } = await wire.call(['Email/query', { accountId, filter: { inMailbox }, limit: 500 }, 'q']);
  const update = Object.fromEntries(((q?.['ids'] ?? []) as string[]).map((id) => [id, { 'keywords/$bench': true }]));
  const { s } = await wire.call(['Email/set', { accountId, update }, 's']);
  const queried = ['Email/changes', { accountId, sinceState: s?.['oldState'], maxChanges: 500 }, 'c'] as const;
  const { c } = await wire.call(queried);
  if (((c?.['updated'] ?? []) as string[]).length !== 500) throw new Error(JSON.stringify(c).slice(0, 300));
  return { name: 'changes of 500', ask: () => wire.ask(JmapWire.text(queried)) };
}

/** Calls of an agent; waits until every message is in the full text. */
export async function mcpRows(wire: JmapWire): Promise<ReadingRow[]> {
  const row = (name: string, tool: string, args: object = {}): ReadingRow => ({
    name,
    ask: () => callTool(wire, tool, args),
  });
  const search = (name: string, query: string): ReadingRow => row(name, 'search_messages', { query });
  await isIndexedBy(async () => {
    const said = await callTool(wire, 'search_messages', { query: 'nothing' });
    if (said['error'] !== undefined && said['error'] !== 'unavailable') throw new Error(JSON.stringify(said));
    return said['error'] === undefined;
  });
  const [message] = (await callTool(wire, 'list_messages', {}))['messages'] as { id: string; threadId: string }[];
  return [
    row('list_messages', 'list_messages'),
    row('list_messages, unread', 'list_messages', { unreadOnly: true }),
    row('list_messages of 50', 'list_messages', { limit: 50 }),
    search('search, rare word', wordOf(50_000)),
    search('search, middling word', wordOf(1_000)),
    search('search, common word', wordOf(0)),
    search('search, from and word', `from:p17@remote.example ${wordOf(100)}`),
    row('get_message', 'get_message', { messageId: message?.id }),
    row('get_thread', 'get_thread', { threadId: message?.threadId }),
    row('list_labels', 'list_labels'),
    row('list_contacts', 'list_contacts'),
    row('list_contacts of 50', 'list_contacts', { limit: 50 }),
    row('list_quarantine', 'list_quarantine'),
  ];
}

async function callTool(wire: JmapWire, name: string, args: object): Promise<Record<string, unknown>> {
  const params = { name, arguments: { mailbox: MAILBOX, ...args } };
  const text = String(await wire.ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })));
  const { result } = JSON.parse(text) as { result?: { structuredContent?: Record<string, unknown> } };
  if (result?.structuredContent === undefined) throw new Error(text.slice(0, 300));
  return result.structuredContent;
}
