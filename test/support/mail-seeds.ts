import { array, type Arbitrary, boolean, constant, constantFrom, integer, letrec, oneof, record } from 'fast-check';
import { jmapId } from '../../mail/jmap/core/ids.ts';
import type { Garden, Spec } from './mail-garden.ts';

/** Few words, so that searches meet; of several scripts. */
const WORDS = ['apple', 'Äpfel', 'invoice', 'report', '部署方案', '会議', '東京', 'ไป', 'crème', 'x1', 'Straße'];
const SEARCHES = [
  ...WORDS,
  'apfel',
  '方案',
  '議',
  '"apple invoice"',
  'invoice report',
  'rep*',
  'strasse',
  '',
  '!',
  '京都',
];
const PEOPLE = [
  'Anna Berg <anna@box.test>',
  'bob@remote.example',
  '"Zoë, C." <zoe@remote.example>',
  '会議 <k@jp.example>',
];
export const KEYWORDS = ['$seen', '$flagged', '$draft', 'work', 'later'];
const START = Date.UTC(2026, 0, 1);
const HOUR = 3600_000;

const text = array(constantFrom(...WORDS), { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));
const moment = integer({ min: 0, max: 30 }).map((hour) => START + hour * HOUR);

export const specs: Arbitrary<Spec> = record(
  {
    subject: text,
    from: constantFrom(...PEOPLE),
    to: constantFrom(...PEOPLE),
    cc: constantFrom(...PEOPLE),
    bcc: constantFrom(...PEOPLE),
    body: array(text, { minLength: 1, maxLength: 20 }).map((lines) => lines.join('\r\n')),
    attached: record({ name: constantFrom('invoice.csv', 'list.csv'), text }),
    header: constantFrom('X-Kind: Apple tree', 'List-Id: <apple.list.example>'),
    sentAt: moment,
    receivedAt: moment,
  },
  { requiredKeys: ['subject', 'from', 'to', 'body', 'sentAt', 'receivedAt'] },
);

const iso = moment.map((at) => new Date(at).toISOString());

/** Filters of every kind, nested. */
export function filters(garden: Garden): Arbitrary<Record<string, unknown> | null> {
  const mailbox = constantFrom(...garden.mailboxes.map((row) => jmapId('mailbox', row)), 'f9999', 'nothing');
  const keyword = constantFrom(...KEYWORDS, 'unheard');
  const search = constantFrom(...SEARCHES);
  const conditions: Record<string, Arbitrary<unknown>> = {
    inMailbox: mailbox,
    inMailboxOtherThan: array(mailbox, { maxLength: 2 }),
    before: iso,
    after: iso,
    minSize: integer({ min: 200, max: 800 }),
    maxSize: integer({ min: 200, max: 800 }),
    hasKeyword: keyword,
    notKeyword: keyword,
    allInThreadHaveKeyword: keyword,
    someInThreadHaveKeyword: keyword,
    noneInThreadHaveKeyword: keyword,
    hasAttachment: boolean(),
    ...Object.fromEntries(['text', 'from', 'to', 'cc', 'bcc', 'subject', 'body'].map((name) => [name, search])),
    header: constantFrom(['x-kind'], ['X-Kind', 'APPLE'], ['list-id', 'tree'], ['List-Id', 'apple.list'], ['X-None']),
  };
  const one = oneof(...Object.entries(conditions).map(([name, value]) => value.map((each) => ({ [name]: each }))));
  const { filter } = letrec<{ filter: Record<string, unknown> }>((tie) => ({
    filter: oneof(
      { depthSize: 'small', withCrossShrink: true },
      one,
      array(one, { minLength: 2, maxLength: 3 }).map((all) => Object.assign({}, ...all) as Record<string, unknown>),
      record({ operator: constantFrom('AND', 'OR', 'NOT'), conditions: array(tie('filter'), { maxLength: 3 }) }),
    ),
  }));
  return oneof({ arbitrary: constant(null), weight: 1 }, { arbitrary: filter, weight: 8 });
}

const comparator = oneof(
  record(
    {
      property: constantFrom('receivedAt', 'size', 'from', 'to', 'subject', 'sentAt'),
      isAscending: boolean(),
    },
    { requiredKeys: ['property'] },
  ),
  record({
    property: constantFrom('hasKeyword', 'allInThreadHaveKeyword', 'someInThreadHaveKeyword'),
    keyword: constantFrom(...KEYWORDS),
    isAscending: boolean(),
  }),
);

export const sorts: Arbitrary<Record<string, unknown>[] | null> = oneof(
  constant(null),
  array(comparator, { minLength: 1, maxLength: 3 }),
);
