import type { ClientServer, ClientSettings } from './client-settings.ts';
import { element, elementText } from './xml.ts';

const RESPONSE_SCHEMA = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a';
const RESPONSE = 'http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006';

/** A request of Outlook. MS-OXDSCLI 2.2.3.1. */
export interface AutodiscoverRequest {
  address: string;
}

/** Reads a request; undefined without an address, or if it wants a response of another schema (Exchange ActiveSync). */
export function readAutodiscover(xml: string): AutodiscoverRequest | undefined {
  const schema = elementText(xml, 'AcceptableResponseSchema');
  const address = elementText(xml, 'EMailAddress');
  if (address === undefined || (schema !== undefined && schema !== RESPONSE_SCHEMA)) return undefined;
  return { address };
}

/** Response with the settings of IMAP and SMTP. MS-OXDSCLI 2.2.4.1. */
export function autodiscoverXml(address: string, { imap, submission }: ClientSettings): string {
  const protocol = (type: string, one: ClientServer | undefined): string[] =>
    one === undefined
      ? []
      : [
          '      <Protocol>',
          `        ${element('Type', type)}`,
          `        ${element('Server', one.host)}`,
          `        ${element('Port', one.port)}`,
          `        ${element('DomainRequired', 'off')}`,
          `        ${element('LoginName', address)}`,
          `        ${element('SPA', 'off')}`,
          `        ${element('SSL', one.tls === 'implicit' ? 'on' : 'off')}`,
          `        ${element('Encryption', one.tls === 'implicit' ? 'SSL' : 'TLS')}`,
          `        ${element('AuthRequired', 'on')}`,
          ...(type === 'SMTP'
            ? [`        ${element('UsePOPAuth', 'off')}`, `        ${element('SMTPLast', 'off')}`]
            : []),
          '      </Protocol>',
        ];
  return `${[
    '<?xml version="1.0" encoding="utf-8"?>',
    `<Autodiscover xmlns="${RESPONSE}">`,
    `  <Response xmlns="${RESPONSE_SCHEMA}">`,
    '    <User>',
    `      ${element('DisplayName', address)}`,
    '    </User>',
    '    <Account>',
    `      ${element('AccountType', 'email')}`,
    `      ${element('Action', 'settings')}`,
    ...protocol('IMAP', imap[0]),
    ...protocol('SMTP', submission[0]),
    '    </Account>',
    '  </Response>',
    '</Autodiscover>',
  ].join('\n')}\n`;
}

/** Response to a request that cannot be answered. MS-OXDSCLI 2.2.4.1.1.2. */
export function autodiscoverError(now: number): string {
  const time = new Date(now).toISOString().slice(11, 23);
  return `${[
    '<?xml version="1.0" encoding="utf-8"?>',
    `<Autodiscover xmlns="${RESPONSE}">`,
    '  <Response>',
    `    <Error Time="${time}" Id="1">`,
    `      ${element('ErrorCode', 600)}`,
    `      ${element('Message', 'Invalid request: this server does not host the domain, or the schema is another one.')}`,
    '      <DebugData/>',
    '    </Error>',
    '  </Response>',
    '</Autodiscover>',
  ].join('\n')}\n`;
}
