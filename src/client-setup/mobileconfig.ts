import { randomUUID } from 'node:crypto';
import type { ClientServer, ClientSettings } from './client-settings.ts';
import { escapeXml } from './xml.ts';

type PlistValue = string | number | boolean | readonly PlistValue[] | { readonly [key: string]: PlistValue };

/** Account of a profile. */
export interface ProfileAccount {
  address: string;
  /** Name for From. */
  name: string;
  password: string;
}

/** Configuration profile of Apple's systems with one mail account. Undefined if IMAP or submission is off. */
export function mobileConfig(
  { address, name, password }: ProfileAccount,
  settings: ClientSettings,
): string | undefined {
  const { imap, submission, hostname } = settings;
  const [incoming, outgoing] = [imap[0], submission[0]];
  if (incoming === undefined || outgoing === undefined) return undefined;
  const id = randomUUID().toUpperCase();
  const account = {
    PayloadType: 'com.apple.mail.managed',
    PayloadVersion: 1,
    PayloadIdentifier: `${hostname}.mail.${id}.account`,
    PayloadUUID: randomUUID().toUpperCase(),
    PayloadDisplayName: address,
    EmailAccountType: 'EmailTypeIMAP',
    EmailAccountDescription: address,
    EmailAccountName: name,
    EmailAddress: address,
    ...server('Incoming', incoming, address),
    IncomingPassword: password,
    ...server('Outgoing', outgoing, address),
    OutgoingPasswordSameAsIncomingPassword: true,
    SMIMEEnabled: false,
  };
  return plist({
    PayloadType: 'Configuration',
    PayloadVersion: 1,
    PayloadIdentifier: `${hostname}.mail.${id}`,
    PayloadUUID: id,
    PayloadDisplayName: `Mail for ${address}`,
    PayloadDescription: `Adds the mailbox ${address}. The password is for this device only.`,
    PayloadOrganization: hostname,
    PayloadRemovalDisallowed: false,
    PayloadContent: [account],
  });
}

function server(
  way: 'Incoming' | 'Outgoing',
  { host, port }: ClientServer,
  username: string,
): Record<string, PlistValue> {
  return {
    [`${way}MailServerAuthentication`]: 'EmailAuthPassword',
    [`${way}MailServerHostName`]: host,
    [`${way}MailServerPortNumber`]: port,
    // Both kinds of TLS: the program finds out which.
    [`${way}MailServerUseSSL`]: true,
    [`${way}MailServerUsername`]: username,
  };
}

function plist(value: PlistValue): string {
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<plist version="1.0">${encode(value)}</plist>`,
  ].join('\n')}\n`;
}

function encode(value: PlistValue): string {
  if (typeof value === 'string') return `<string>${escapeXml(value)}</string>`;
  if (typeof value === 'number') return `<integer>${Math.trunc(value)}</integer>`;
  if (typeof value === 'boolean') return value ? '<true/>' : '<false/>';
  if (Array.isArray(value)) return `<array>${value.map(encode).join('')}</array>`;
  const rows = Object.entries(value).map(([key, one]) => `<key>${escapeXml(key)}</key>${encode(one)}`);
  return `<dict>${rows.join('')}</dict>`;
}
