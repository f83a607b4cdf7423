import { EMAIL_SORTS } from '../../mail/jmap/email-query/email-sort.ts';
import type { Random } from './random.ts';

/** Ids for random calls, by type. */
export interface RandomCallTargets {
  accountId: string;
  /** Another account of the same session. */
  otherAccountId: string;
  emails: readonly string[];
  threads: readonly string[];
  mailboxes: readonly string[];
  blobs: readonly string[];
  states: readonly string[];
}

type Made = (random: Random, ground: RandomCallTargets, depth: number) => unknown;

const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53 - 1,
  -(2 ** 53 - 1),
  2 ** 53,
  '',
  ' ',
  '#',
  '#k',
  '*',
  '"',
  '\0',
  'a\r\nX: y',
  '\u202eevil\u200b',
  '\ufdfa\u0130\u1e9e',
  '__proto__',
  'constructor',
  'toString',
  'zzzzzzzzzzz',
  'zzzzzzzzzzz-zzzzzzzzzzz-zzzzzzzzzzz',
  '1-1-1',
  '0',
  'm',
  'm0',
  'mzzzzzzzzzz',
  'fzzzzzzzzzz',
  'u1',
  'm1-1_2_3',
  'm1-',
  'm1-1_',
  'singleton',
  'a/b/c',
  '~1~0',
  `' OR 1=1 --`,
  '9999-12-31T23:59:59Z',
  '0000-01-01T00:00:00Z',
  '2026-02-30T25:61:61Z',
  'x'.repeat(5_000),
  [],
  [null],
  [[[]]],
  {},
  { '': '' },
  { length: 1e9 },
  JSON.parse('{"__proto__":{"a":1}}'),
];

const DATES = ['2026-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '2030-06-01T12:00:00.123Z'];
const WORDS = [
  'hello',
  'Hello "two words"',
  '"',
  'h*',
  'hel*',
  'not and or near',
  '東京',
  'a@b.c',
  '*',
  '(',
  'ß',
  '{x',
];
const KEYWORDS = ['$seen', '$flagged', '$draft', '$forwarded', 'mine', '$SEEN', 'bad keyword', ''];
const HEADERS = ['Subject', 'From', 'X-Any', 'date', '', 'a b', ':', 'Content-Type'];

const anyOf =
  <T>(list: readonly T[]): Made =>
  (random) =>
    list[random.below(list.length)];
const of =
  (kind: 'emails' | 'threads' | 'mailboxes' | 'blobs' | 'states'): Made =>
  (random, ground) =>
    random.chance(0.05) ? random.one(ODD.slice(10)) : random.one(ground[kind]);
const listOf =
  (one: Made, most = 5): Made =>
  (random, ground, depth) =>
    Array.from({ length: random.below(most) }, () => one(random, ground, depth));
const mapOf =
  (name: Made, value: Made, most = 3): Made =>
  (random, ground, depth) => {
    const entries = Array.from({ length: random.below(most) }, () => [
      String(name(random, ground, depth)),
      value(random, ground, depth),
    ]);
    return Object.fromEntries(entries) as unknown;
  };
/** Picks some members, sometimes with an arbitrary value. */
const some =
  (members: Readonly<Record<string, Made>>, share = 0.6): Made =>
  (random, ground, depth) => {
    const made: Record<string, unknown> = {};
    for (const [name, one] of Object.entries(members)) {
      if (random.chance(share)) made[name] = random.chance(0.03) ? random.one(ODD) : one(random, ground, depth);
    }
    if (random.chance(0.01)) made[String(random.one(ODD))] = random.one(ODD);
    return made;
  };
const either =
  (...makers: readonly Made[]): Made =>
  (random, ground, depth) =>
    random.one(makers)(random, ground, depth);

const flag = anyOf([true, false]);
const number = anyOf([0, 1, 2, 5, -1, -3, 100, 2 ** 31, 2 ** 53 - 1]);
const date = anyOf(DATES);
const word = anyOf(WORDS);
const keyword = anyOf(KEYWORDS);
const header = anyOf(HEADERS);
const creation = anyOf(['k', 'k1', '#k', 'a b', '__proto__']);

const headerProperty: Made = (random) => {
  if (random.chance(0.8)) return random.one(['header:Subject:asText', 'header:X-Any', 'header:From:asAddresses:all']);
  const form = random.one([
    '',
    ':asRaw',
    ':asText',
    ':asAddresses',
    ':asGroupedAddresses',
    ':asMessageIds',
    ':asDate',
    ':asURLs',
    ':as',
  ]);
  return `header:${random.one(HEADERS)}${form}${random.one(['', ':all', ':all:all'])}`;
};
const emailProperty = either(
  anyOf([
    ...'id blobId threadId mailboxIds keywords size receivedAt messageId inReplyTo references sender from to'.split(
      ' ',
    ),
    ...'cc bcc replyTo subject sentAt hasAttachment preview headers bodyStructure bodyValues textBody'.split(' '),
    ...'htmlBody attachments trust'.split(' '),
  ]),
  headerProperty,
);
const partProperty = either(
  anyOf('partId blobId size name type charset disposition cid language location subParts headers'.split(' ')),
  headerProperty,
);
const mailboxIds = mapOf(of('mailboxes'), anyOf([true, true, true, null, false]));
const keywords = mapOf(keyword, anyOf([true, true, true, false, null]));

const wanted: Readonly<Record<string, Made>> = {
  properties: listOf(emailProperty, 8),
  bodyProperties: listOf(partProperty, 6),
  fetchTextBodyValues: flag,
  fetchHTMLBodyValues: flag,
  fetchAllBodyValues: flag,
  maxBodyValueBytes: number,
};

const condition = some(
  {
    inMailbox: of('mailboxes'),
    inMailboxOtherThan: listOf(of('mailboxes')),
    before: date,
    after: date,
    minSize: number,
    maxSize: number,
    allInThreadHaveKeyword: keyword,
    someInThreadHaveKeyword: keyword,
    noneInThreadHaveKeyword: keyword,
    hasKeyword: keyword,
    notKeyword: keyword,
    hasAttachment: flag,
    text: word,
    from: word,
    to: word,
    subject: word,
    body: word,
    header: listOf(header, 4),
    name: word,
    parentId: either(of('mailboxes'), anyOf([null])),
    role: anyOf(['inbox', 'trash', null, 'no role']),
    hasAnyRole: flag,
    isSubscribed: flag,
    undoStatus: anyOf(['pending', 'final', 'canceled', 'x']),
    emailIds: listOf(of('emails')),
    threadIds: listOf(of('threads')),
  },
  0.08,
);
const filter: Made = (random, ground, depth) =>
  depth > 3 || random.chance(0.6)
    ? condition(random, ground, depth)
    : {
        operator: random.one(['AND', 'OR', 'NOT', 'and', 'XOR']),
        conditions: Array.from({ length: random.below(4) }, () => filter(random, ground, depth + 1)),
      };
const sort = listOf(
  some({
    property: anyOf([...EMAIL_SORTS, ...EMAIL_SORTS, 'name', 'sortOrder', 'emailId', '__proto__']),
    isAscending: flag,
    keyword,
    collation: anyOf(['i;ascii-casemap', 'i;unicode-casemap', 'i;ascii-numeric', 'x']),
  }),
  4,
);

const address = some({ name: word, email: anyOf(['a@b.c', 'not one', 'ä@ö.test', 'a\r\nb@c']) });
const stateNow: Made = (random, ground) => (random.chance(0.1) ? random.one(ground.states) : null);
const part: Made = (random, ground, depth) =>
  some(
    {
      partId: anyOf(['1', '2', 'x']),
      blobId: of('blobs'),
      type: anyOf(['text/plain', 'text/html', 'multipart/mixed', 'image/png', 'message/rfc822', 'x', 'a/b/c']),
      charset: anyOf(['utf-8', 'iso-8859-1', 'x']),
      name: word,
      disposition: anyOf(['inline', 'attachment', 'x y']),
      cid: word,
      language: listOf(word),
      location: word,
      size: number,
      subParts: depth > 4 ? anyOf([[], null]) : listOf((r, g, d) => part(r, g, d + 1), 3),
      'header:X-Any:asText': word,
    },
    0.35,
  )(random, ground, depth + 1);
const email = some(
  {
    mailboxIds,
    keywords,
    receivedAt: date,
    from: listOf(address, 3),
    to: listOf(address, 3),
    subject: word,
    sentAt: date,
    messageId: listOf(anyOf(['a@b', 'x', '<a@b>'])),
    bodyStructure: part,
    textBody: listOf(part, 2),
    htmlBody: listOf(part, 2),
    attachments: listOf(part, 3),
    bodyValues: mapOf(anyOf(['1', '2']), some({ value: word, isTruncated: flag, isEncodingProblem: flag })),
    'header:X-Any:asText': word,
    'header:X-List:asURLs:all': listOf(word),
    blobId: of('blobs'),
    emailId: of('emails'),
    identityId: anyOf(['i1', 'i2', '#k']),
    id: of('emails'),
  },
  0.35,
);
const patch = either(
  some({ keywords, mailboxIds, 'keywords/$seen': anyOf([true, null, false]) }, 0.4),
  mapOf(
    (random, ground) =>
      random.one(['keywords/', 'mailboxIds/', 'a/', '']) +
      random.one([...KEYWORDS, ...ground.mailboxes, 'x/y', '~0~1']),
    anyOf([true, null, false, 1, {}]),
  ),
  some({
    name: word,
    parentId: either(of('mailboxes'), anyOf([null, '#k'])),
    role: anyOf(['inbox', 'archive', null, 'x']),
    sortOrder: number,
    isSubscribed: flag,
    isEnabled: flag,
    fromDate: date,
    textBody: word,
    undoStatus: anyOf(['canceled', 'pending']),
    email: anyOf(['me@box.test', '*@box.test', 'x']),
  }),
);

const ids = either(listOf(either(of('emails'), of('threads'), of('mailboxes'))), anyOf([null]));

/** Arguments by verb. */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, Made>>>> = {
  get: { ids },
  parse: { blobIds: listOf(of('blobs')), ...wanted },
  changes: { sinceState: of('states'), maxChanges: number },
  query: {
    filter,
    sort,
    position: number,
    anchor: either(of('emails'), of('mailboxes')),
    anchorOffset: number,
    limit: number,
    calculateTotal: flag,
  },
  queryChanges: {
    filter,
    sort,
    sinceQueryState: of('states'),
    maxChanges: number,
    upToId: of('emails'),
    calculateTotal: flag,
  },
  set: {
    ifInState: stateNow,
    create: mapOf(creation, either(email, patch)),
    update: mapOf(either(of('emails'), of('mailboxes'), anyOf(['singleton', 'i1', '#k'])), patch),
    destroy: listOf(either(of('emails'), of('mailboxes'), anyOf(['i1', '#k', 'singleton'])), 2),
  },
  copy: {
    fromAccountId: (random, ground) => (random.chance(0.9) ? ground.otherAccountId : ground.accountId),
    create: mapOf(creation, email),
    onSuccessDestroyOriginal: flag,
  },
  import: { emails: mapOf(creation, email), ifInState: stateNow },
  lookup: { typeNames: listOf(anyOf(['Email', 'Thread', 'Mailbox', 'x'])), ids: listOf(of('blobs')) },
  send: { identityId: anyOf(['i1', 'x']), send: mapOf(creation, patch), onSuccessUpdateEmail: mapOf(creation, patch) },
};

/** Additional arguments of single methods. */
const OWN: Readonly<Record<string, Readonly<Record<string, Made>>>> = {
  'SearchSnippet/get': { filter, emailIds: listOf(of('emails')) },
  'Email/get': { ids, ...wanted },
  'Mailbox/get': { ids, properties: listOf(anyOf('id name parentId role myRights totalEmails x'.split(' '))) },
  'Mailbox/query': { sortAsTree: flag, filterAsTree: flag },
  'Mailbox/set': { onDestroyRemoveEmails: flag },
  'Email/query': { collapseThreads: flag },
  'Email/queryChanges': { collapseThreads: flag },
  'EmailSubmission/set': { onSuccessUpdateEmail: mapOf(creation, patch), onSuccessDestroyEmail: listOf(creation) },
};

/** Random valid and invalid arguments of a method. */
export function randomArguments(random: Random, ground: RandomCallTargets, method: string): Record<string, unknown> {
  const verb = method.slice(method.indexOf('/') + 1);
  const members = method.startsWith('SearchSnippet/') ? OWN[method] : { ...ARGUMENTS[verb], ...OWN[method] };
  const made = some(members ?? {}, 0.45)(random, ground, 0) as Record<string, unknown>;
  // Required arguments.
  for (const name of NEEDED) if (members?.[name] !== undefined) made[name] ??= members[name](random, ground, 0);
  if (!method.startsWith('PushSubscription/') && random.chance(0.98)) made['accountId'] = ground.accountId;
  return made;
}

const NEEDED = ['sinceState', 'sinceQueryState', 'blobIds', 'emailIds', 'fromAccountId', 'create', 'emails'];
