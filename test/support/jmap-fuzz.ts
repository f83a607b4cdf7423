import type { Random } from './imap-fuzz.ts';
import type { FuzzRequest } from './json-requests.ts';
import { damaged, oddValue, pick } from './json-fuzz.ts';

/** Ids for the requests: the account's own, and foreign ones, which must not give access. */
export interface JmapFuzzTargets {
  token: string;
  own: JmapFuzzObjects;
  foreign: JmapFuzzObjects;
}

export interface JmapFuzzObjects {
  account: string;
  emails: string[];
  mailboxes: string[];
  threads: string[];
  blobs: string[];
  identities: string[];
  states: string[];
}

type Make = (random: Random, ground: JmapFuzzTargets) => string;

const list =
  (make: Make, most = 6): Make =>
  (random, ground) =>
    `[${Array.from({ length: random(most) }, () => make(random, ground)).join()}]`;
const oneOf =
  (...texts: readonly unknown[]): Make =>
  (random) =>
    JSON.stringify(pick(random, texts));
const number: Make = (random) => pick(random, ['0', '1', '5', '50', '-1', '-3', '100000', '1.5', '9007199254740991']);
const bool = oneOf(true, false);
const map =
  (name: Make, value: Make): Make =>
  (random, ground) =>
    `{${Array.from({ length: 1 + random(3) }, () => `${name(random, ground)}:${value(random, ground)}`).join()}}`;
const nullOr =
  (make: Make): Make =>
  (random, ground) =>
    random(5) === 0 ? 'null' : make(random, ground);
const either =
  (...makes: readonly Make[]): Make =>
  (random, ground) =>
    pick(random, makes)(random, ground);
/** Picks some members of an object. */
const some =
  (members: Readonly<Record<string, Make>>): Make =>
  (random, ground) => {
    const chosen = Object.entries(members).filter(() => random(3) > 0);
    return `{${chosen.map(([name, make]) => `${JSON.stringify(name)}:${orOdd(make)(random, ground)}`).join()}}`;
  };

/** Sometimes replaces a value with an arbitrary one. */
const orOdd =
  (make: Make): Make =>
  (random, ground) =>
    random(25) === 0 ? oddValue(random) : make(random, ground);

/** An id: own, foreign, created in this request, or unknown. */
const id =
  (kind: 'emails' | 'mailboxes' | 'threads' | 'blobs' | 'identities'): Make =>
  (random, { own, foreign }) => {
    const from = random(4) === 0 ? foreign[kind] : own[kind];
    const known = from.length > 0 && random(8) > 0;
    return JSON.stringify(known ? pick(random, from) : pick(random, NOBODYS));
  };
const NOBODYS = [
  '#a',
  '#b',
  'm999999',
  'f0',
  't1',
  'm1-1',
  'm1-99999',
  'u1',
  'S1',
  'singleton',
  'x'.repeat(300),
  '',
  '-',
];

const email = id('emails');
const mailbox = id('mailboxes');
const blob = id('blobs');
const state: Make = (random, { own, foreign }) =>
  JSON.stringify(pick(random, [...own.states, ...foreign.states, '0', 'zzz', '1-2-3', '', 'zzzzzzzzzzz-1-1']));
const word = oneOf('apples', 'a', '', '"two words"', 'x OR y*', 'NEAR(a b)', '部署', '%', '\0', 'e\u0301', "'; DROP");
const keyword = oneOf('$seen', '$flagged', '$draft', 'own', '$SEEN', 'a b', 'é', 'x'.repeat(256), '');
const date = oneOf(
  '2026-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '0000-01-01T00:00:00Z',
  '2026-13-41T00:00:00Z',
  'now',
);
const address = map(oneOf('email', 'name'), oneOf('a@else.test', 'Ünï <x>', 'a\r\nBcc: b@c.test', '"', ''));
const addresses = nullOr(list(address, 4));
const headerName = oneOf(
  'subject',
  'header:Subject',
  'header:From:asAddresses',
  'header:To:asGroupedAddresses:all',
  'header:X-Odd:asRaw',
  'header:Date:asDate',
  'header:Received:all',
  'header:List-Post:asURLs',
  'header:subject:asDate',
  'header:',
  'header:a:b:c:d',
);
const property = either(
  headerName,
  oneOf('id', 'blobId', 'threadId', 'mailboxIds', 'keywords', 'size', 'receivedAt', 'from', 'preview', 'bodyStructure'),
  oneOf('textBody', 'htmlBody', 'attachments', 'bodyValues', 'headers', 'hasAttachment', 'name', 'role', 'nothing'),
);
const condition = some({
  inMailbox: mailbox,
  inMailboxOtherThan: list(mailbox),
  before: date,
  after: date,
  minSize: number,
  maxSize: number,
  hasKeyword: keyword,
  notKeyword: keyword,
  someInThreadHaveKeyword: keyword,
  allInThreadHaveKeyword: keyword,
  noneInThreadHaveKeyword: keyword,
  hasAttachment: bool,
  text: word,
  from: word,
  subject: word,
  body: word,
  header: list(word, 3),
});
const filter: Make = (random, ground) => {
  if (random(4) > 0) return condition(random, ground);
  const operator = pick(random, ['AND', 'OR', 'NOT', 'XOR']);
  const depth = random(30) === 0 ? 200 : 1;
  const inner = list(filter, 3)(random, ground);
  return `${`{"operator":"${operator}","conditions":[`.repeat(depth)}{"operator":"NOT","conditions":${inner}}${']}'.repeat(depth)}`;
};
const sort = list(
  some({
    property: oneOf('receivedAt', 'size', 'from', 'subject', 'sentAt', 'hasKeyword', 'sortOrder', 'name', 'nothing'),
    isAscending: bool,
    collation: oneOf('i;ascii-casemap', 'i;unicode-casemap', 'i;ascii-numeric', 'none'),
    keyword,
  }),
  3,
);
const part: Make = (random, ground) =>
  some({
    partId: oneOf('t', 'h', 'x'),
    blobId: blob,
    type: oneOf('text/plain', 'text/html', 'multipart/mixed', 'message/rfc822', 'x', 'a/b\r\nX: y'),
    name: oneOf('a.txt', 'ü\u202e.pdf', 'a\r\nb', '/etc/passwd'),
    disposition: oneOf('attachment', 'inline', 'x;y'),
    charset: oneOf('utf-8', 'utf-16', 'x'),
    cid: oneOf('a@b', '<a>', 'ä'),
    size: number,
    ...(random(4) === 0 && { subParts: list(part, 3) }),
  })(random, ground);
const message = some({
  mailboxIds: map(mailbox, oneOf(true)),
  keywords: map(keyword, oneOf(true)),
  from: addresses,
  to: addresses,
  bcc: addresses,
  subject: word,
  sentAt: date,
  receivedAt: date,
  messageId: list(oneOf('a@b', 'a b', '<x>')),
  inReplyTo: list(oneOf('a@b')),
  bodyValues: map(oneOf('t', 'h', 'x'), some({ value: word, isTruncated: bool, charset: oneOf('utf-8') })),
  textBody: list(part, 2),
  htmlBody: list(part, 2),
  attachments: list(part, 3),
  bodyStructure: part,
  'header:X-Odd:asText': word,
  'header:X-Odd:asAddresses': addresses,
});
const patch = either(
  map(either(keywordPath('keywords'), keywordPath('mailboxIds')), oneOf(true, null, false)),
  some({ keywords: map(keyword, oneOf(true)), mailboxIds: map(mailbox, oneOf(true)), subject: word }),
);
function keywordPath(name: string): Make {
  return (random, ground) => {
    const at = JSON.parse((name === 'keywords' ? keyword : mailbox)(random, ground)) as string;
    return JSON.stringify(`${name}/${pick(random, [at, `${at}~1`, `${at}/x`, `~${at}`])}`);
  };
}
const creation = oneOf('a', 'b', '', 'a b', '__proto__');
const folder = some({
  name: oneOf('Work', 'INBOX', 'a/b', '', 'ü', 'x'.repeat(2_000), '\0'),
  parentId: nullOr(mailbox),
  role: oneOf('archive', 'inbox', 'x', null),
  sortOrder: number,
  isSubscribed: bool,
});
const envelope = some({
  mailFrom: some({
    email: oneOf('a@else.test', '', 'x'),
    parameters: map(oneOf('HOLDFOR', 'RET', 'X'), oneOf('5', null)),
  }),
  rcptTo: list(some({ email: oneOf('b@else.test', '@', 'a@b\r\nX'), parameters: nullOr(map(oneOf('NOTIFY'), word)) })),
});
const submission = some({ identityId: id('identities'), emailId: email, envelope: nullOr(envelope) });
const bodies = {
  fetchTextBodyValues: bool,
  fetchHTMLBodyValues: bool,
  fetchAllBodyValues: bool,
  maxBodyValueBytes: number,
};
const query = {
  filter: nullOr(filter),
  sort,
  position: number,
  limit: number,
  calculateTotal: bool,
  collapseThreads: bool,
};
const changes = { sinceState: state, maxChanges: number };
const get = (ids: Make): Record<string, Make> => ({ ids: nullOr(list(ids)), properties: nullOr(list(property)) });
const set = (made: Make, ids: Make, changed: Make): Record<string, Make> => ({
  ifInState: nullOr(state),
  create: map(creation, made),
  update: map(ids, changed),
  destroy: list(ids),
});

/** Arguments of every method, without accountId. */
const METHODS: Readonly<Record<string, Readonly<Record<string, Make>>>> = {
  'Core/echo': { a: word, '#b': word },
  'Mailbox/get': get(mailbox),
  'Mailbox/changes': changes,
  'Mailbox/query': {
    ...query,
    sortAsTree: bool,
    filterAsTree: bool,
    filter: some({ role: word, name: word, parentId: mailbox }),
  },
  'Mailbox/queryChanges': { sinceQueryState: state, maxChanges: number, filter: nullOr(some({ role: word })) },
  'Mailbox/set': { ...set(folder, mailbox, folder), onDestroyRemoveEmails: bool },
  'Thread/get': get(id('threads')),
  'Thread/changes': changes,
  'Email/get': { ...get(email), ...bodies, bodyProperties: list(property) },
  'Email/changes': changes,
  'Email/query': { ...query, anchor: email, anchorOffset: number },
  'Email/queryChanges': { ...query, sinceQueryState: state, upToId: email },
  'Email/set': set(message, email, patch),
  'Email/copy': {
    fromAccountId: oneOf('mbx_1', 'mbx_2'),
    create: map(creation, some({ id: email, mailboxIds: map(mailbox, bool) })),
  },
  'Email/import': {
    emails: map(creation, some({ blobId: blob, mailboxIds: map(mailbox, oneOf(true)), receivedAt: date })),
  },
  'Email/parse': { blobIds: list(blob), ...bodies, properties: list(property) },
  'SearchSnippet/get': { filter: nullOr(filter), emailIds: list(email) },
  'Identity/get': get(id('identities')),
  'Identity/changes': changes,
  'Identity/set': set(some({ email: word, name: word, textSignature: word }), id('identities'), some({ name: word })),
  'EmailSubmission/get': get(oneOf('s1', 'e1', '1')),
  'EmailSubmission/changes': changes,
  'EmailSubmission/query': {
    ...query,
    filter: nullOr(some({ undoStatus: word, emailIds: list(email), before: date })),
  },
  'EmailSubmission/queryChanges': { sinceQueryState: state, filter: nullOr(some({ undoStatus: word })) },
  'EmailSubmission/set': {
    ...set(submission, oneOf('s1', 'e1'), some({ undoStatus: oneOf('canceled', 'final') })),
    onSuccessUpdateEmail: map(either(email, oneOf('#a')), patch),
    onSuccessDestroyEmail: list(either(email, oneOf('#a'))),
  },
  'VacationResponse/get': get(oneOf('singleton')),
  'VacationResponse/set': set(
    some({ textBody: word }),
    oneOf('singleton'),
    some({ isEnabled: bool, toDate: nullOr(date), textBody: word }),
  ),
  'Quota/get': get(oneOf('q1', 'storage')),
  'Quota/query': query,
  'Quota/changes': changes,
  'Blob/upload': {
    create: map(
      creation,
      some({ data: list(some({ 'data:asText': word, blobId: blob, offset: number, length: number })) }),
    ),
  },
  'Blob/get': {
    ids: list(blob),
    properties: list(oneOf('data', 'data:asText', 'digest:sha-256', 'size')),
    offset: number,
    length: number,
  },
  'Blob/lookup': { ids: list(blob), typeNames: list(oneOf('Email', 'Thread', 'Mailbox', 'X')) },
  'Blob/copy': { fromAccountId: oneOf('mbx_1'), blobIds: list(blob) },
  'MDN/parse': { blobIds: list(blob) },
  'MDN/send': { identityId: id('identities'), send: map(creation, some({ forEmailId: email })) },
  'PushSubscription/get': get(oneOf('p1')),
  'PushSubscription/set': set(
    some({ deviceClientId: word, url: oneOf('https://127.0.0.1/x', 'x') }),
    oneOf('p1'),
    some({ types: list(word) }),
  ),
  '': {},
  '__proto__/get': {},
};

const USING = ['core', 'mail', 'submission', 'vacationresponse', 'blob', 'quota', 'mdn', 'websocket'].map(
  (name) => `urn:ietf:params:jmap:${name}`,
);

/** One request to the API, or for a blob. */
export function jmapRequest(random: Random, ground: JmapFuzzTargets): FuzzRequest {
  const headers: Record<string, string> = {
    authorization: `Bearer ${ground.token}`,
    'content-type': 'application/json',
  };
  if (random(40) === 0)
    headers['content-type'] = pick(random, ['text/plain', 'application/jsonp', ';', 'application/json;x']);
  if (random(60) === 0) headers['authorization'] = pick(random, ['Basic x', 'Bearer', 'Basic Og==', 'Bearer mst_x']);
  if (random(15) === 0) return blobRequest(random, ground, headers);
  const text = requestText(random, ground);
  const body = random(20) === 0 ? damaged(random, text) : Buffer.from(text);
  return { method: 'POST', path: '/jmap/api', headers, body };
}

function blobRequest(random: Random, ground: JmapFuzzTargets, headers: Record<string, string>): FuzzRequest {
  const account = pick(random, [ground.own.account, ground.own.account, ground.foreign.account, 'mbx_0', '%00']);
  if (random(3) === 0) {
    return { method: 'POST', path: `/jmap/upload/${account}`, headers, body: Buffer.from(oddValue(random)) };
  }
  const name = encodeURIComponent(JSON.parse(blob(random, ground)) as string);
  const query = pick(random, ['', '?accept=text/html', '?accept=%0d%0aX:y', '?accept=a&accept=b', '?%']);
  if (random(3) === 0)
    headers['range'] = pick(random, ['bytes=0-1', 'bytes=-5', 'bytes=9999999-', 'bytes=5-1', 'x', 'bytes=0-1,2-3']);
  return { method: 'GET', path: `/jmap/download/${account}/${name}/a%0d${query}`, headers, body: Buffer.alloc(0) };
}

function requestText(random: Random, ground: JmapFuzzTargets): string {
  const names: string[] = [];
  const calls = Array.from({ length: random(50) === 0 ? 70 : 1 + random(4) }, () => callText(random, ground, names));
  const members: Record<string, string> = {
    using: random(30) === 0 ? oddValue(random) : JSON.stringify(random(20) === 0 ? USING.slice(random(8)) : USING),
    methodCalls: random(40) === 0 ? oddValue(random) : `[${calls.join()}]`,
  };
  if (random(10) === 0) members['createdIds'] = orOdd(map(creation, email))(random, ground);
  if (random(40) === 0) members[pick(random, ['extra', '__proto__', 'using2'])] = oddValue(random);
  return `{${Object.entries(members)
    .map(([name, value]) => `"${name}":${value}`)
    .join()}}`;
}

/** `names` are the methods of the calls before, for references to them. */
function callText(random: Random, ground: JmapFuzzTargets, names: string[]): string {
  const name = pick(random, Object.keys(METHODS));
  const { own, foreign } = ground;
  const members: string[] = [];
  if (random(30) > 0) members.push(`"accountId":${JSON.stringify(random(12) === 0 ? foreign.account : own.account)}`);
  for (const [argument, make] of Object.entries(METHODS[name] ?? {})) {
    if (random(2) === 0) continue;
    const before = random(12) === 0 ? random(names.length + 1) : names.length;
    const value = before < names.length ? reference(random, before, names[before] ?? '') : orOdd(make)(random, ground);
    members.push(`"${before < names.length ? '#' : ''}${argument}":${value}`);
  }
  if (random(30) === 0)
    members.push(`${JSON.stringify(pick(random, ['__proto__', 'extra', '#ids']))}:${oddValue(random)}`);
  const callId = random(30) === 0 ? oddValue(random) : `"c${names.push(name) - 1}"`;
  return `[${JSON.stringify(name)},{${members.join()}},${callId}]`;
}

function reference(random: Random, call: number, name: string): string {
  const path = pick(random, [
    '/ids',
    '/list/*/id',
    '/list/*/threadId',
    '/created',
    '/list/*/*/*',
    '',
    '/',
    '/~2',
    '/ids/0',
    '/*',
  ]);
  return JSON.stringify({ resultOf: `c${call}`, name: random(20) === 0 ? 'X/get' : name, path });
}
