import { readHeaderProperty, checkProperties, isEmailProperty } from '../../../mail/jmap/email/email-selection.ts';
import { blobRef, jmapRow } from '../../../mail/jmap/core/ids.ts';
import { jsonSize, readIJson } from '../../../mail/jmap/core/json.ts';
import { mediaType } from '../../../mail/jmap/core/media-type.ts';
import { evaluate, type Invocation, readRequest, resolveReferences } from '../../../mail/jmap/core/request.ts';
import { JMAP_LIMITS } from '../../../mail/jmap/core/capabilities.ts';
import { readFilter } from '../../../mail/jmap/email-query/filter-arguments.ts';
import { readSort } from '../../../mail/jmap/email-query/email-sort.ts';
import { isEmailHeader, readEmailHeader } from '../../../mail/jmap/email-set/header-block.ts';
import { readPosition } from '../../../mail/jmap/push/state-watch.ts';
import { applyPatch, readPatch } from '../../../mail/jmap/standard/set-properties.ts';
import { readState } from '../../../mail/jmap/standard/standard-changes.ts';
import { caught, type CostGroup, type CostRow, costs, driven } from './row.ts';

const jmap: CostGroup = {
  at: 'mail/jmap/core',
  input: 'JMAP request',
  bound: '10 MB, of the memory for bodies; 100,000 values, 100 levels',
  thread: 'main',
};

/** Makes an object of many different names, as the text is long. */
function namesOf(text: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: text.length / 64 }, (_, n) => [`${text.slice(n, n + 8)}/${n}`, value]),
  );
}

function references(text: string): unknown {
  const list = Array.from({ length: text.length / 64 }, () => []);
  const earlier: Invocation[] = [['Core/echo', { list, text }, 'a']];
  const reference = { resultOf: 'a', name: 'Core/echo', path: '/list/*/*/*' };
  return caught(() => resolveReferences(Object.fromEntries(list.map((_, n) => [`#r${n}`, reference])), earlier));
}

const CORE = costs(jmap, {
  readIJson: driven((text) => caught(() => readIJson(Buffer.from(text))), { worst: ['{},', '[[],', '{"a":'] }),
  'readIJson: array': driven((text) => caught(() => readIJson(Buffer.from(`[${text}{}]`))), {
    worst: ['{},', '[],', '0,'],
  }),
  'readIJson: string': (text) => caught(() => readIJson(Buffer.from(JSON.stringify({ a: text })))),
  'readIJson: names': (text) => caught(() => readIJson(Buffer.from(JSON.stringify(namesOf(text, 1))))),
  jsonSize: (text) => jsonSize({ [text]: [text] }, 32_000_000),
  readRequest: (text) =>
    caught(() =>
      readRequest({ using: text.split(' '), methodCalls: [[text, namesOf(text, text), text]] }, new Set(), JMAP_LIMITS),
    ),
  resolveReferences: driven(references, { bound: '100,000 items and 10 MB in one call' }),
  evaluate: driven((text) => caught(() => evaluate({ a: [] }, `/a/${text}`)), { bound: 'paths of 1,000 characters' }),
  mediaType,
  jmapRow: (text) => jmapRow('email', 1, text),
  blobRef: (text) => blobRef(1, text),
});

const METHODS = costs(jmap, {
  readHeaderProperty: driven((text) => readHeaderProperty(`header:${text}`), { at: 'mail/jmap/email' }),
  isEmailProperty: driven(isEmailProperty, { at: 'mail/jmap/email' }),
  checkProperties: driven((text) => caught(() => checkProperties(text.split(','))), { at: 'mail/jmap/email' }),
  readEmailHeader: driven(
    (text) =>
      caught(() => readEmailHeader({ subject: text, from: [{ name: text, email: text }], [`header:X-${text}`]: text })),
    { at: 'mail/jmap/email-set' },
  ),
  'readEmailHeader: addresses': driven(
    (text) =>
      caught(() => readEmailHeader({ to: text.split(',').map((email) => ({ name: email, email: `${email}@a.b` })) })),
    { at: 'mail/jmap/email-set' },
  ),
  isEmailHeader: driven(isEmailHeader, { at: 'mail/jmap/email-set' }),
  readFilter: driven(
    (text) => caught(() => readFilter({ createdIds: new Map() }, { account: 1 } as never, { text, subject: text })),
    { at: 'mail/jmap/email-query', bound: '200 parts, 20 levels, 20 texts of 200 words' },
  ),
  'readFilter: conditions': driven(
    (text) =>
      caught(() =>
        readFilter({ createdIds: new Map() }, { account: 1 } as never, {
          operator: 'AND',
          conditions: text.split(',').map((from) => ({ from })),
        }),
      ),
    { at: 'mail/jmap/email-query', bound: '200 parts, 20 levels, 20 texts of 200 words' },
  ),
  readSort: driven((text) => caught(() => readSort(text.split(',').map((property) => ({ property })))), {
    at: 'mail/jmap/email-query',
    bound: '20 comparators',
  }),
  readPosition: driven(readPosition, { at: 'mail/jmap/push', input: 'Last-Event-ID', bound: '50 accounts' }),
  readPatch: driven((text) => readPatch(namesOf(text, 1)), {
    at: 'mail/jmap/standard',
    bound: 'paths of 20 levels, 100,000 values in a request',
    most: 512 * 1024,
  }),
  'readPatch: path': driven((text) => readPatch({ [text]: 1 }), {
    at: 'mail/jmap/standard',
    bound: 'paths of 20 levels',
  }),
  applyPatch: driven(
    (text) => applyPatch({ keywords: {} }, { keywords: namesOf(text, true), [`keywords/${text}`]: null }),
    {
      at: 'mail/jmap/standard',
      bound: 'paths of 20 levels',
    },
  ),
  readState: driven((text) => caught(() => readState(text)), { at: 'mail/jmap/standard' }),
});

/** Functions that read JMAP requests. */
export const JMAP_COSTS: readonly CostRow[] = [...CORE, ...METHODS];
