import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { sharedEmailState } from '../../store/mailbox/shared-account.ts';
import { sharedEmailIds } from '../../store/message/shared-emails.ts';
import { allEmailIds, type EmailRow, emailRows } from '../../store/message/email-rows.ts';
import { formatUtc } from '../core/arguments.ts';
import { MAIL } from '../core/capabilities.ts';
import { blobId, jmapId, jmapRow } from '../core/ids.ts';
import type { JmapMethod, MethodCall } from '../core/method.ts';
import { readerScope, sharedPart } from '../core/shared-accounts.ts';
import { SYSTEM_KEYWORDS } from '../email-query/keyword-argument.ts';
import { isHumanReader } from '../redact.ts';
import { formatState } from '../standard/standard-changes.ts';
import { answerGet, type GetRequest, readGet, tooManyObjects } from '../standard/standard-get.ts';
import {
  DEFAULT_CONTENT,
  isEmailProperty,
  METADATA,
  readEmailSelection,
  requiredReadsOf,
  SELECTION_ARGUMENTS,
} from './email-selection.ts';
import { addExtensionProperties, extensionPropertiesOf } from './extension-properties.ts';
import { readContent } from './message-content.ts';
import { ReadBudget, readTooLarge } from './header-values.ts';
import { storedSource } from './message-source.ts';

/** Email/get. RFC 8621 4.2. */
export const emailGet: JmapMethod = {
  name: 'Email/get',
  capability: MAIL,
  canShare: true,
  async run(call, args) {
    const extensions = extensionPropertiesOf(call);
    const known = (property: string): boolean =>
      extensions.some(({ name }) => name === property) || isEmailProperty(property);
    const get = readGet(call, args, known, SELECTION_ARGUMENTS);
    const properties = get.properties ?? new Set([...METADATA, ...DEFAULT_CONTENT]);
    const selection = readEmailSelection([...properties], get);
    const needs = requiredReadsOf(selection);
    const { account } = get.access;
    const ids = await requestedRows(call, get);
    const found = await call.context.store.read(emailRows, {
      account,
      ids,
      ...needs,
      within: readerScope(call, account),
    });
    if (found === undefined) throw readTooLarge();
    const { text, html, all } = selection.values;
    const depth = text || html || all ? 'read' : showsText(selection.properties) ? 'listed' : undefined;
    if (depth !== undefined) await call.session.onRead?.({ account, emails: rowIds(found.rows), depth });
    if (properties.has('keywords')) await call.session.onWords?.({ account, kinds: ['labels'], written: false });
    const isHuman =
      found.rows.every(({ redactedFrom }) => redactedFrom === null) || (await isHumanReader(call, account));
    const budget = new ReadBudget(undefined, call.memory);
    const list: (Record<string, unknown> & { id: string })[] = [];
    for (const row of found.rows) {
      const content = await readContent(storedSource(call.context, row, isHuman), selection, budget);
      list.push({ ...metadata(row, found.slots, properties), ...content });
      // Decoding runs on the main thread, which all connections share.
      if (needs.header || needs.structure) await yieldToEventLoop(account);
    }
    await addExtensionProperties(call, account, rowIds(found.rows), list, onlyRequested(extensions, properties));
    const shared = sharedPart(call, account);
    return answerGet(get, shared === undefined ? formatState(found.state) : sharedEmailState(shared), list);
  },
};

/** Properties set by this server; all others contain text of the sender. */
const SERVER_PROPERTIES = new Set([
  'id',
  'blobId',
  'threadId',
  'mailboxIds',
  'keywords',
  'size',
  'receivedAt',
  'hasAttachment',
]);

function showsText(properties: Iterable<string>): boolean {
  return [...properties].some((property) => !SERVER_PROPERTIES.has(property));
}

async function requestedRows(call: MethodCall, { access, ids }: GetRequest): Promise<number[]> {
  if (ids !== null) return ids.flatMap((id) => jmapRow('email', access.account, id) ?? []);
  const most = call.context.limits.maxObjectsInGet;
  const folders = readerScope(call, access.account);
  const { store } = call.context;
  const all = await (folders === undefined
    ? store.read(allEmailIds, { account: access.account, most })
    : store.read(sharedEmailIds, { folders, most }));
  if (all === undefined) throw tooManyObjects(call);
  return all;
}

const rowIds = (rows: readonly EmailRow[]): number[] => rows.map(({ id }) => id);

function onlyRequested<T extends { name: string }>(extensions: readonly T[], properties: ReadonlySet<string>): T[] {
  return extensions.filter(({ name }) => properties.has(name));
}

type Slots = ReadonlyMap<number, string>;

/** Properties from the store's tables. RFC 8621 4.1.1. */
const READ: Readonly<Record<(typeof METADATA)[number], (row: EmailRow, slots: Slots) => unknown>> = {
  id: (row) => jmapId('email', row.id),
  blobId: (row) => blobId({ kind: 'message', email: row.id }),
  threadId: (row) => jmapId('thread', row.threadId),
  mailboxIds: (row) => asSet(row.mailboxes.map((mailbox) => jmapId('mailbox', mailbox))),
  keywords: (row, slots) => asSet(keywords(row, slots)),
  size: (row) => row.size,
  receivedAt: (row) => formatUtc(row.receivedAt),
};

/** The requested metadata properties, and the id. */
function metadata(
  row: EmailRow,
  slots: Slots,
  properties: ReadonlySet<string>,
): Record<string, unknown> & { id: string } {
  const found: Record<string, unknown> = {};
  for (const name of METADATA) if (properties.has(name)) found[name] = READ[name](row, slots);
  return { ...found, id: jmapId('email', row.id) };
}

function keywords(row: EmailRow, slots: Slots): string[] {
  const system = [...SYSTEM_KEYWORDS].filter(([, bit]) => (row.flags & bit) !== 0).map(([keyword]) => keyword);
  const slotted = [...slots].filter(([slot]) => (row.flags & (1 << slot)) !== 0).map(([, keyword]) => keyword);
  return [...system, ...slotted, ...row.keywords];
}

function asSet(names: readonly string[]): Record<string, true> {
  return Object.fromEntries(names.map((name) => [name, true]));
}
