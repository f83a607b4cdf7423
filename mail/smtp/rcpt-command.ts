import { readParameters, type Parameters } from './parameters.ts';
import { readPath, type Path } from './path.ts';
import { fault, isFault, type SyntaxFault } from './syntax.ts';
import { decodeXtext } from './xtext.ts';

const NOTIFY = ['SUCCESS', 'FAILURE', 'DELAY'] as const;

/** Values of NOTIFY, RFC 3461 4.1; NEVER is used alone. */
export type Notify = (typeof NOTIFY)[number] | 'NEVER';

/** Arguments of RCPT. */
export interface RcptArguments {
  path: Exclude<Path, { kind: 'null' }>;
  /** True when the command has octets over 127, which needs SMTPUTF8 in MAIL. RFC 6531 3.4. */
  utf8: boolean;
  notify?: readonly Notify[];
  /** `addr-type;address`, decoded, printable. RFC 3461 4.2. */
  orcpt?: string;
}

/** Parses what follows `RCPT `. RFC 5321 4.1.1.3, with NOTIFY and ORCPT. */
export function parseRcpt(text: string): RcptArguments | SyntaxFault {
  if (!/^TO:/i.test(text)) return fault(501, '5.5.4', 'Syntax: RCPT TO:<address>');
  const read = readPath(text.slice(3).trimStart());
  if ('kind' in read) {
    switch (read.kind) {
      case 'no-brackets':
        return fault(501, '5.5.4', 'Syntax: RCPT TO:<address>');
      case 'source-route':
        return fault(553, '5.1.3', 'Source routes are not supported. Send the address alone');
      case 'not-an-address':
        return fault(501, '5.1.3', 'Invalid recipient address');
    }
  }
  if (read.path.kind === 'null') return fault(501, '5.1.3', 'Empty recipient address');
  const parameters = readParameters(read.rest);
  return isFault(parameters)
    ? parameters
    : withParameters({ path: read.path, utf8: /[^\x00-\x7f]/.test(text) }, parameters);
}

function withParameters(rcpt: RcptArguments, parameters: Parameters): RcptArguments | SyntaxFault {
  for (const [keyword, value] of parameters) {
    if (keyword === 'NOTIFY') {
      const notify = readNotify(value);
      if (notify === undefined)
        return fault(501, '5.5.4', 'NOTIFY must be NEVER, or a list of SUCCESS, FAILURE and DELAY');
      rcpt.notify = notify;
    } else if (keyword === 'ORCPT') {
      const orcpt = readOrcpt(value);
      if (orcpt === undefined) return fault(501, '5.5.4', 'ORCPT must be an address type, a semicolon and xtext');
      rcpt.orcpt = orcpt;
    } else {
      return fault(555, '5.5.4', `Unsupported parameter ${keyword}`);
    }
  }
  return rcpt;
}

function readNotify(value: string | undefined): readonly Notify[] | undefined {
  const words = (value ?? '').toUpperCase().split(',');
  if (words.length === 1 && words[0] === 'NEVER') return ['NEVER'];
  const values = NOTIFY.filter((word) => words.includes(word));
  return values.length === words.length ? values : undefined;
}

function readOrcpt(value: string | undefined): string | undefined {
  if (value === undefined || value.length > 500) return undefined;
  const [type, address] = splitOnce(value, ';');
  if (!/^[A-Za-z0-9-]{1,40}$/.test(type) || address === '') return undefined;
  // RFC 6533 3: utf-8 addresses may be unencoded in an SMTPUTF8 transaction.
  const raw = /^utf-8$/i.test(type) && !/[+=\s\x00-\x1f\x7f-\x9f]/.test(address);
  const decoded = raw ? address : decodeXtext(address);
  // As with ENVID: xtext must not decode to a line end.
  if (decoded === undefined || (!raw && !/^[\x20-\x7e]+$/.test(decoded))) return undefined;
  return `${type};${decoded}`;
}

function splitOnce(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
