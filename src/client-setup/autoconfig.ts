import type { ClientServer, ClientSettings } from './client-settings.ts';
import { element, escapeXml } from './xml.ts';

/** Longest names of a provider, in characters. draft-ietf-mailmaint-autoconfig, displayName and displayShortName. */
const MAX_NAME = 60;
const MAX_SHORT_NAME = 20;

/**
 * Thunderbird's document, which K-9, Evolution, KMail and FairEmail read too. Without an address the program puts its own in
 * place of %EMAILADDRESS%. draft-ietf-mailmaint-autoconfig.
 */
export function autoconfigXml(domain: string, address: string | undefined, settings: ClientSettings): string {
  const user = address ?? '%EMAILADDRESS%';
  const server = (name: string, type: string, { host, port, tls }: ClientServer): string[] => [
    `    <${name} type="${type}">`,
    `      ${element('hostname', host)}`,
    `      ${element('port', port)}`,
    `      ${element('socketType', tls === 'implicit' ? 'SSL' : 'STARTTLS')}`,
    `      ${element('authentication', 'password-cleartext')}`,
    `      ${element('username', user)}`,
    `    </${name}>`,
  ];
  const { imap, submission, jmapUrl, baseUrl } = settings;
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<clientConfig version="1.1">',
    `  <emailProvider id="${escapeXml(domain)}">`,
    `    ${element('domain', domain)}`,
    `    ${element('displayName', domain.slice(0, MAX_NAME))}`,
    `    ${element('displayShortName', domain.slice(0, MAX_SHORT_NAME))}`,
    ...imap.flatMap((one) => server('incomingServer', 'imap', one)),
    '    <incomingServer type="jmap">',
    `      ${element('url', jmapUrl)}`,
    `      ${element('authentication', 'basic')}`,
    `      ${element('username', user)}`,
    '    </incomingServer>',
    ...submission.flatMap((one) => server('outgoingServer', 'smtp', one)),
    '  </emailProvider>',
    `  <webMail><loginPage url="${escapeXml(`${baseUrl}/`)}"/></webMail>`,
    '</clientConfig>',
  ].join('\n')}\n`;
}
