import { ACTION_MODES, DISPOSITION_TYPES, type ReadMdn, SENDING_MODES } from '../../message/mdn.ts';
import { bool, idOrCreation, mapOf, nullable, object, oneOf, type Reader } from '../arguments.ts';
import { MethodError } from '../errors.ts';
import { orDefault, textUpTo } from '../set-properties.ts';

const line: Reader<string> = (value, path) => {
  const text = textUpTo(500)(value, path);
  if (/[\x00-\x1f\x7f]/.test(text)) throw new MethodError('invalidArguments', `"${path}" must be one line.`);
  return text;
};

const OWN_FIELD =
  /^(?:reporting-ua|mdn-gateway|original-recipient|final-recipient|original-message-id|disposition|error|failure|warning)$/i;

const extensions: Reader<Record<string, string>> = (value, path) => {
  const read = mapOf(line)(value, path);
  for (const name of read.keys()) {
    if (!/^[A-Za-z][A-Za-z0-9-]{0,60}$/.test(name) || OWN_FIELD.test(name))
      throw new MethodError('invalidArguments', `"${path}" has "${name.slice(0, 60)}", which is no extension field.`);
  }
  return Object.fromEntries(read);
};

/** What a client says of a receipt that is to be sent. RFC 9007 2. */
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

/** A receipt that was parsed, RFC 9007 2; which email it is about is not looked for. */
export function mdnObject(read: ReadMdn): Record<string, unknown> {
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
