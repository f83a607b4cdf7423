import { formatAddress, needsUtf8, type Address } from '../message/address.ts';
import { encodeXtext } from '../smtp/xtext.ts';
import type { ServerExtensions } from './server-extensions.ts';
import { failed, type AttemptVerdict } from './attempt-verdict.ts';

/** A message as sent, signatures in front; lines end in CRLF. */
export interface WireMessage {
  size: number;
  eightBit: boolean;
  /** The header has UTF-8 and the sender used SMTPUTF8. */
  utf8Header: boolean;
  chunks(): AsyncIterable<Buffer> | Iterable<Buffer>;
}

export interface TransactionRecipient {
  address: Address;
  /** RFC 3461 parameters, decoded; '' for none. */
  notify: string;
  orcpt: string;
}

/** One MAIL, its RCPTs and its DATA. */
export interface Transaction {
  /** Envelope sender; undefined: the null reverse-path. */
  sender: Address | undefined;
  envid: string;
  ret: string;
  /** REQUIRETLS, only over a session that was opened for it. RFC 8689. */
  requireTls?: boolean | undefined;
  recipients: readonly TransactionRecipient[];
  message: WireMessage;
}

export interface TransactionResult {
  /** One for each recipient, in their order. */
  verdicts: AttemptVerdict[];
  /** The connection was lost before any reply: another one may be tried at once. */
  untouched: boolean;
}

/** Finds an extension that the message needs and the server lacks. Nothing is converted: that would break signatures. */
export function missingExtension(
  offers: ServerExtensions,
  { sender, message }: Transaction,
  to: Address,
): AttemptVerdict | undefined {
  const utf8 = message.utf8Header || (sender !== undefined && needsUtf8(sender));
  if ((utf8 || needsUtf8(to)) && !offers.smtputf8) {
    return failed('5.6.7', 'The server does not support internationalized addresses (SMTPUTF8)'); // RFC 6531 3.2
  }
  if (message.eightBit && !offers.eightBit) {
    return failed('5.6.3', 'The server accepts 7-bit mail only; send it as quoted-printable or base64'); // RFC 6152 3
  }
  if (offers.size !== undefined && offers.size > 0 && message.size > offers.size) {
    return failed('5.3.4', `The message has ${message.size} octets, the server accepts ${offers.size}`); // RFC 1870 6.1
  }
  return undefined;
}

/** Lists the commands of a transaction for the recipients at indexes `open`; the caller reads as many replies. RFC 5321 3.3. */
export function transactionCommands(
  offers: ServerExtensions,
  { sender, envid, ret, requireTls, recipients, message }: Transaction,
  open: readonly number[],
): string[] {
  const { dsn, size, smtputf8, eightBit } = offers;
  const to = open.flatMap((at) => recipients[at] ?? []);
  const utf8 =
    message.utf8Header || [sender, ...to.map((one) => one.address)].some((a) => a !== undefined && needsUtf8(a));
  let mail = `MAIL FROM:<${sender === undefined ? '' : formatAddress(sender)}>`;
  if (size !== undefined) mail += ` SIZE=${message.size}`;
  if (eightBit && message.eightBit) mail += ' BODY=8BITMIME';
  if (smtputf8 && utf8) mail += ' SMTPUTF8';
  if (requireTls === true) mail += ' REQUIRETLS';
  if (dsn && (ret === 'FULL' || ret === 'HDRS')) mail += ` RET=${ret}`;
  if (dsn && envid !== '') mail += ` ENVID=${encodeXtext(envid)}`;
  const rcpts = to.map((one) => `RCPT TO:<${formatAddress(one.address)}>${dsn ? dsnParameters(one) : ''}`);
  return [mail, ...rcpts, 'DATA'];
}

/** Formats NOTIFY and ORCPT. Invalid values are left out: they only request reports. RFC 3461 4.1, 4.2. */
function dsnParameters({ notify, orcpt }: TransactionRecipient): string {
  let out = /^(?:NEVER|(?:SUCCESS|FAILURE|DELAY)(?:,(?:SUCCESS|FAILURE|DELAY))*)$/.test(notify)
    ? ` NOTIFY=${notify}`
    : '';
  const [, type, address] = /^([A-Za-z0-9-]+);(.+)$/s.exec(orcpt) ?? [];
  if (type !== undefined && address !== undefined && /^[\x20-\x7e]+$/.test(address)) {
    out += ` ORCPT=${type};${encodeXtext(address)}`;
  }
  return out;
}
