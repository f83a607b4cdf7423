import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { ACTION_MODES, DISPOSITION_TYPES, readMdn, type ReceivedMdn, SENDING_MODES } from '../../message/mdn.ts';
import { openReadableBlob, smallBlob } from '../blob/blobs.ts';
import { access } from '../core/access.ts';
import {
  type ArgumentReader,
  bool,
  id,
  idOrCreation,
  list,
  mapOf,
  nullable,
  object,
  oneOf,
} from '../core/arguments.ts';
import { MDN } from '../core/capabilities.ts';
import { MethodError } from '../core/errors.ts';
import { blobRef } from '../core/ids.ts';
import type { JmapMethod } from '../core/method.ts';
import { ReadBudget } from '../email/header-values.ts';
import { orDefault, textUpTo } from '../standard/set-properties.ts';

const line: ArgumentReader<string> = (value, path) => {
  const text = textUpTo(500)(value, path);
  if (/[\x00-\x1f\x7f]/.test(text)) throw new MethodError('invalidArguments', `"${path}" must be one line.`);
  return text;
};

const OWN_FIELD =
  /^(?:reporting-ua|mdn-gateway|original-recipient|final-recipient|original-message-id|disposition|error|failure|warning)$/i;

const extensions: ArgumentReader<Record<string, string>> = (value, path) => {
  const read = mapOf(line)(value, path);
  for (const name of read.keys()) {
    if (!/^[A-Za-z][A-Za-z0-9-]{0,60}$/.test(name) || OWN_FIELD.test(name))
      throw new MethodError(
        'invalidArguments',
        `"${path}" has "${name.slice(0, 60)}", which is not an extension field.`,
      );
  }
  return Object.fromEntries(read);
};

/** Properties of an MDN to send. RFC 9007 2. */
export const MDN_VALUES = {
  forEmailId: idOrCreation,
  subject: nullable(textUpTo(500)),
  textBody: nullable(textUpTo(64 * 1024)),
  includeOriginalMessage: orDefault(bool, false),
  reportingUA: nullable(line),
  disposition: object({
    actionMode: oneOf(...ACTION_MODES),
    sendingMode: oneOf(...SENDING_MODES),
    type: oneOf(...DISPOSITION_TYPES),
  }),
  finalRecipient: nullable(line),
  extensionFields: nullable(extensions),
};

const orNull = (text: string): string | null => (text === '' ? null : text);

/** The MDN object of a parsed MDN; `forEmailId` stays null. RFC 9007 2. */
function mdnObject(read: ReceivedMdn): Record<string, unknown> {
  return {
    forEmailId: null,
    subject: orNull(read.subject),
    textBody: orNull(read.text),
    includeOriginalMessage: read.hasOriginal,
    reportingUA: orNull(read.reportingUa),
    disposition: read.disposition,
    mdnGateway: orNull(read.gateway),
    originalRecipient: orNull(read.originalRecipient),
    finalRecipient: orNull(read.finalRecipient),
    originalMessageId: orNull(read.originalMessageId),
    error: read.errors.length === 0 ? null : read.errors,
    extensionFields: Object.keys(read.extensions).length === 0 ? null : read.extensions,
  };
}

/** Maximum octets of an MDN; larger messages are not parsable. */
const MAX_MDN_BYTES = 1024 * 1024;
/** Maximum blobs of one call; each is read whole. */
const MAX_BLOBS = 50;
/** Maximum octets that one call reads to find them. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** MDN/parse. RFC 9007 2.2. */
export const mdnParse: JmapMethod = {
  name: 'MDN/parse',
  capability: MDN,
  async run(call, args) {
    const { accountId, blobIds } = object({ accountId: access(call), blobIds: list(id) })(args, '');
    const uniqueIds = [...new Set(blobIds)];
    if (uniqueIds.length > MAX_BLOBS) {
      throw new MethodError('requestTooLarge', `A call can parse at most ${MAX_BLOBS} MDNs.`);
    }
    const parsed: Record<string, unknown> = {};
    const notParsable: string[] = [];
    const notFound: string[] = [];
    const budget = new ReadBudget(MAX_READ_BYTES);
    for (const one of uniqueIds) {
      const ref = blobRef(accountId.account, one);
      const blob = ref && (await openReadableBlob(call, accountId.account, ref, budget));
      const octets = blob && (await smallBlob(blob, MAX_MDN_BYTES));
      const read = octets && readMdn(octets);
      if (blob === undefined) notFound.push(one);
      else if (read === undefined) notParsable.push(one);
      else parsed[one] = mdnObject(read);
      await yieldToEventLoop(accountId.account);
    }
    const orNull = (ids: string[]): string[] | null => (ids.length === 0 ? null : ids);
    return {
      accountId: args['accountId'],
      parsed: Object.keys(parsed).length === 0 ? null : parsed,
      notParsable: orNull(notParsable),
      notFound: orNull(notFound),
    };
  },
};
