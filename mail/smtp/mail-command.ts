import type { Address } from '../message/address.ts';
import { readParameters, type Parameters } from './parameters.ts';
import { readPath } from './path.ts';
import { fault, isFault, type SyntaxFault } from './syntax.ts';
import { decodeXtext } from './xtext.ts';

/** The words of a MAIL command. */
export interface MailArguments {
  /** Undefined is the null reverse-path. */
  sender: Address | undefined;
  /** RFC 1870: what the client says the message has, in octets. */
  size: number | undefined;
  body: '7BIT' | '8BITMIME';
  smtputf8: boolean;
  ret: 'FULL' | 'HDRS' | undefined;
  /** RFC 3461 4.4, decoded; printable ASCII only. */
  envid: string | undefined;
  /** RFC 8689: every server on the way has to promise verified TLS to the next. */
  requireTls: boolean;
}

/** Parses what follows `MAIL `. RFC 5321 4.1.1.2, with SIZE, BODY, SMTPUTF8, RET, ENVID, REQUIRETLS and AUTH. */
export function parseMail(text: string): MailArguments | SyntaxFault {
  if (!/^FROM:/i.test(text)) return fault(501, '5.5.4', 'The form is MAIL FROM:<address>');
  const read = readPath(text.slice(5).trimStart());
  if ('kind' in read) {
    return read.kind === 'no-brackets'
      ? fault(501, '5.5.4', 'The form is MAIL FROM:<address>')
      : fault(553, '5.1.7', 'The sender is not a mail address');
  }
  if (read.path.kind === 'postmaster') return fault(553, '5.1.7', 'The sender needs a domain');
  const parameters = readParameters(read.rest);
  if (isFault(parameters)) return parameters;
  const sender = read.path.kind === 'address' ? read.path.address : undefined;
  const mail: MailArguments = {
    sender,
    size: undefined,
    body: '7BIT',
    smtputf8: false,
    ret: undefined,
    envid: undefined,
    requireTls: false,
  };
  const wrong = takeParameters(mail, parameters);
  if (wrong !== undefined) return wrong;
  if (!mail.smtputf8 && /[^\x00-\x7f]/.test(text)) {
    return fault(553, '5.6.7', 'This command needs the parameter SMTPUTF8'); // RFC 6531 3.5
  }
  return mail;
}

function takeParameters(mail: MailArguments, parameters: Parameters): SyntaxFault | undefined {
  for (const [keyword, value] of parameters) {
    const wrong = takeParameter(mail, keyword, value);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function takeParameter(mail: MailArguments, keyword: string, value: string | undefined): SyntaxFault | undefined {
  switch (keyword) {
    case 'SIZE':
      // RFC 1870 4: up to 20 digits, so more than a double holds exactly; that is too big anyway.
      if (value === undefined || !/^\d{1,20}$/.test(value)) return fault(501, '5.5.4', 'SIZE is a number of octets');
      mail.size = Number(value);
      return undefined;
    case 'BODY':
      return takeBody(mail, value?.toUpperCase());
    case 'SMTPUTF8':
      if (value !== undefined) return fault(501, '5.5.4', 'SMTPUTF8 takes no value');
      mail.smtputf8 = true;
      return undefined;
    case 'REQUIRETLS':
      if (value !== undefined) return fault(501, '5.5.4', 'REQUIRETLS takes no value');
      mail.requireTls = true;
      return undefined;
    case 'RET':
      return takeRet(mail, value?.toUpperCase());
    case 'ENVID':
      return takeEnvid(mail, value);
    case 'AUTH':
      // RFC 4954 5: who the client says first submitted this. It is checked and then trusted from nobody.
      return value === undefined || decodeXtext(value) === undefined
        ? fault(501, '5.5.4', 'AUTH is <> or an address in xtext')
        : undefined;
    default:
      return fault(555, '5.5.4', `The parameter ${keyword} is not known here`); // RFC 5321 4.1.1.11
  }
}

function takeBody(mail: MailArguments, value: string | undefined): SyntaxFault | undefined {
  if (value === 'BINARYMIME') return fault(501, '5.5.4', 'BINARYMIME is not offered here; use 8BITMIME');
  if (value !== '7BIT' && value !== '8BITMIME') return fault(501, '5.5.4', 'BODY is 7BIT or 8BITMIME');
  mail.body = value;
  return undefined;
}

function takeRet(mail: MailArguments, value: string | undefined): SyntaxFault | undefined {
  if (value !== 'FULL' && value !== 'HDRS') return fault(501, '5.5.4', 'RET is FULL or HDRS');
  mail.ret = value;
  return undefined;
}

function takeEnvid(mail: MailArguments, value: string | undefined): SyntaxFault | undefined {
  const envid = value === undefined || value.length > 100 ? undefined : decodeXtext(value);
  // A line end that came through xtext would become a header field of the delivery report.
  if (envid === undefined || !/^[\x20-\x7e]+$/.test(envid)) return fault(501, '5.5.4', 'ENVID is up to 100 of xtext');
  mail.envid = envid;
  return undefined;
}
