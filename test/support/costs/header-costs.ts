import { createSecretKey } from 'node:crypto';
import { keyedAddress, parseAddress, parseDomain, textKey } from '../../../mail/message/address.ts';
import { parseAuthors } from '../../../mail/message/authors.ts';
import { formatParameter } from '../../../mail/message/compose-parameter.ts';
import { formatMailbox, formatPhrase } from '../../../mail/message/compose-text.ts';
import { parseDate, zonedDate } from '../../../mail/message/date.ts';
import { decodePlacedWords, decodeWords, encodeWords, sevenBitText } from '../../../mail/message/encoded-word.ts';
import { displayKey, envelopeFields, formatEnvelope } from '../../../mail/message/envelope.ts';
import { parseAddressList } from '../../../mail/message/header-addresses.ts';
import { HEADER_FORMS, headerForm } from '../../../mail/message/header-forms.ts';
import { headerText, rawText, readableText } from '../../../mail/message/header-text.ts';
import { firstField, readFields, selectHeaderFields, unfold } from '../../../mail/message/header.ts';
import { LIMITS } from '../../../mail/message/limits.ts';
import { isMailboxLevel } from '../../../mail/message/mailbox-level.ts';
import { messageIds, ownId, threadRefs, writtenIds } from '../../../mail/message/msg-id.ts';
import { addressGroups, namedAddresses } from '../../../mail/message/named-address.ts';
import { noReplyReason } from '../../../mail/message/no-reply-reason.ts';
import { decodedParameter, parameter, parseParameters } from '../../../mail/message/parameters.ts';
import { boundaryOf, readPartHeader } from '../../../mail/message/part-header.ts';
import { isPlainAddress, plainAddress } from '../../../mail/message/plain-address.ts';
import { replyReferences } from '../../../mail/message/reply-references.ts';
import { copyOfReportAddress } from '../../../mail/message/report-address.ts';
import { rewriteSubmittedHeader } from '../../../mail/message/rewrite.ts';
import { overridesDirection, shownAddresses, shownName } from '../../../mail/message/shown-name.ts';
import { readEnvelope, readReplyTo } from '../../../mail/message/stored-envelope.ts';
import { readStructure } from '../../../mail/message/stored-structure.ts';
import { baseSubject, casemap } from '../../../mail/message/subject.ts';
import { imapString } from '../../../mail/message/wire-string.ts';
import { readWire } from '../../../mail/message/wire-value.ts';
import { type CostGroup, type CostRow, costs, driven, octets } from './row.ts';

const key = Buffer.alloc(32, 1);
const header: CostGroup = {
  at: 'mail/message',
  input: 'header of a message',
  bound: 'header of 256 KiB, 1,000 fields of 100 KiB',
  thread: 'main, reader, filter',
  most: LIMITS.header,
};

/** Returns the text as the value of every field that a word is looked for in. */
export function hostileFields(text: string): ReturnType<typeof readFields> {
  const names = ['auto-submitted', 'precedence', 'x-auto-response-suppress', 'delivered-to'];
  return ['content-type', 'content-disposition', 'content-id', ...names].map((name) => ({
    name,
    value: text,
    start: 0,
    end: text.length,
  }));
}

const FIELDS = costs(header, {
  readFields: (text) => readFields(text),
  'readFields: lines without a colon': (text) => readFields(`a\r\n${text.replaceAll(':', ';')}`),
  firstField: (text) => firstField(readFields(text), 'subject'),
  unfold,
  selectHeaderFields: (text) => selectHeaderFields(octets(text), ['from', 'a']),
  rewriteSubmittedHeader: (text) => rewriteSubmittedHeader(octets(text), { date: 'x' }),
  ...Object.fromEntries(HEADER_FORMS.map((form) => [`headerForm: ${form}`, (text: string) => headerForm(form, text)])),
  headerText,
  rawText,
  readableText,
  decodeWords,
  decodePlacedWords,
  encodeWords,
  sevenBitText,
  baseSubject,
  casemap,
  parseDate,
  'parseDate: behind a day': (text) => parseDate(`Fri, 20 Nov 2026 ${text}`),
  zonedDate,
  messageIds,
  writtenIds,
  ownId,
  threadRefs: (text) => threadRefs('a', text, text),
  replyReferences: (text) => replyReferences({ messageId: '<a@b>', inReplyTo: text, references: text }),
  isMailboxLevel,
});

const ADDRESSES = costs(
  { ...header, input: 'address fields of a header', bound: '2,000 addresses; From of 8 KiB with 100 authors' },
  {
    parseAddress,
    parseDomain,
    textKey,
    keyedAddress,
    isPlainAddress,
    plainAddress: (text) => plainAddress(`"${text}`),
    parseAddressList: (text) => parseAddressList(text),
    'parseAddressList: in a bracket': (text) => parseAddressList(`<${text}`),
    namedAddresses: (text) => namedAddresses(parseAddressList(text, 2000)),
    addressGroups: (text) => addressGroups(parseAddressList(text, 2000)),
    parseAuthors: (text) => parseAuthors(octets(`From: ${text}\r\n`)),
    'parseAuthors: whole header': (text) => parseAuthors(octets(text)),
    shownAddresses,
    shownName,
    overridesDirection,
    'noReplyReason: by a word': (text) => noReplyReason({ local: 'a', domain: 'b' }, hostileFields(text), new Set()),
    'noReplyReason: by a header': (text) => noReplyReason({ local: 'a', domain: 'b' }, readFields(text), new Set()),
    envelopeFields: (text) => envelopeFields(readFields(`From: ${text}`), { left: 2000 }),
    formatEnvelope: (text) => formatEnvelope(envelopeFields(readFields(`To: ${text}`), { left: 2000 })),
    displayKey: (text) => displayKey(parseAddressList(text, 2000)),
    formatMailbox: (text) => formatMailbox('a@b.example', text),
    formatPhrase,
    copyOfReportAddress: (text) => copyOfReportAddress({ local: text, domain: 'b' }, createSecretKey(key)),
  },
);

const PARAMETERS = costs(
  { ...header, input: 'header of a part', bound: '256 KiB, 200 parameters, boundary of 2,048' },
  {
    parseParameters,
    'parseParameters: behind a type': (text) => parseParameters(`a/b; ${text}`),
    parameter: (text) => parameter(parseParameters(`a/b; ${text}`).params, 'name'),
    decodedParameter: (text) => decodedParameter(parseParameters(text).params, 'name'),
    readPartHeader: (text) => readPartHeader(hostileFields(text), 'text/plain'),
    boundaryOf: (text) => boundaryOf(readPartHeader(hostileFields(`multipart/a; boundary=${text}`), 'text/plain')),
    formatParameter: (text) => formatParameter('filename', text),
  },
);

const STORED = costs(
  {
    ...header,
    input: 'ENVELOPE and BODYSTRUCTURE as stored',
    bound: '768 KiB of structure',
    thread: 'main, reader',
    most: LIMITS.structure,
  },
  {
    readWire,
    readStructure,
    readEnvelope,
    readReplyTo,
    imapString: driven(imapString, { input: 'text of a header', bound: 'header limit' }),
  },
);

/** Functions that read the header of a message. */
export const HEADER_COSTS: readonly CostRow[] = [...FIELDS, ...ADDRESSES, ...PARAMETERS, ...STORED];
