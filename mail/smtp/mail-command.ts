import type { Address } from '../message/address.ts';
import { readParameters, type Parameters } from './parameters.ts';
import { readPath } from './path.ts';
import { fault, isFault, type SyntaxFault } from './syntax.ts';
import { decodeXtext } from './xtext.ts';

/** Arguments of MAIL. */
export interface MailArguments {
  /** Undefined is the null reverse-path. */
  sender: Address | undefined;
  /** Declared message size in octets. RFC 1870. */
  size: number | undefined;
  body: '7BIT' | '8BITMIME';
  smtputf8: boolean;
  ret: 'FULL' | 'HDRS' | undefined;
  /** RFC 3461 4.4, decoded; printable ASCII only. */
  envid: string | undefined;
  /** REQUIRETLS: every hop must use verified TLS. RFC 8689. */
  requireTls: boolean;
}

/** Parses what follows `MAIL `. RFC 5321 4.1.1.2, with SIZE, BODY, SMTPUTF8, RET, ENVID, REQUIRETLS and AUTH. */
export function parseMail(text: string): MailArguments | SyntaxFault {
  if (!/^FROM:/i.test(text)) return fault(501, '5.5.4', 'Syntax: MAIL FROM:<address>');
  const read = readPath(text.slice(5).trimStart());
  if ('kind' in read) {
    return read.kind === 'no-brackets'
      ? fault(501, '5.5.4', 'Syntax: MAIL FROM:<address>')
      : fault(553, '5.1.7', 'Invalid sender address');
  }
  if (read.path.kind === 'postmaster') return fault(553, '5.1.7', 'Sender address has no domain');
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
  const problem = applyParameters(mail, parameters);
  if (problem !== undefined) return problem;
  if (!mail.smtputf8 && /[^\x00-\x7f]/.test(text)) {
    return fault(553, '5.6.7', 'Non-ASCII address requires SMTPUTF8'); // RFC 6531 3.5
  }
  return mail;
}

function applyParameters(mail: MailArguments, parameters: Parameters): SyntaxFault | undefined {
  for (const [keyword, value] of parameters) {
    const problem = applyParameter(mail, keyword, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function applyParameter(mail: MailArguments, keyword: string, value: string | undefined): SyntaxFault | undefined {
  switch (keyword) {
    case 'SIZE':
      // RFC 1870 4: up to 20 digits. Values that a double cannot hold exactly are too large anyway.
      if (value === undefined || !/^\d{1,20}$/.test(value))
        return fault(501, '5.5.4', 'SIZE must be a number of octets');
      mail.size = Number(value);
      return undefined;
    case 'BODY':
      return applyBody(mail, value?.toUpperCase());
    case 'SMTPUTF8':
      if (value !== undefined) return fault(501, '5.5.4', 'SMTPUTF8 has no value');
      mail.smtputf8 = true;
      return undefined;
    case 'REQUIRETLS':
      if (value !== undefined) return fault(501, '5.5.4', 'REQUIRETLS has no value');
      mail.requireTls = true;
      return undefined;
    case 'RET':
      return applyRet(mail, value?.toUpperCase());
    case 'ENVID':
      return applyEnvid(mail, value);
    case 'AUTH':
      // RFC 4954 5: the claimed original submitter. Checked for syntax and ignored: no client is trusted.
      return value === undefined || decodeXtext(value) === undefined
        ? fault(501, '5.5.4', 'AUTH must be <> or an address in xtext')
        : undefined;
    default:
      return fault(555, '5.5.4', `Unsupported parameter ${keyword}`); // RFC 5321 4.1.1.11
  }
}

function applyBody(mail: MailArguments, value: string | undefined): SyntaxFault | undefined {
  if (value === 'BINARYMIME') return fault(501, '5.5.4', 'BINARYMIME is not supported. Use 8BITMIME');
  if (value !== '7BIT' && value !== '8BITMIME') return fault(501, '5.5.4', 'BODY must be 7BIT or 8BITMIME');
  mail.body = value;
  return undefined;
}

function applyRet(mail: MailArguments, value: string | undefined): SyntaxFault | undefined {
  if (value !== 'FULL' && value !== 'HDRS') return fault(501, '5.5.4', 'RET must be FULL or HDRS');
  mail.ret = value;
  return undefined;
}

function applyEnvid(mail: MailArguments, value: string | undefined): SyntaxFault | undefined {
  const envid = value === undefined || value.length > 100 ? undefined : decodeXtext(value);
  // A line end in xtext would inject a header field into the delivery report.
  if (envid === undefined || !/^[\x20-\x7e]+$/.test(envid))
    return fault(501, '5.5.4', 'ENVID must be up to 100 characters of xtext');
  mail.envid = envid;
  return undefined;
}
