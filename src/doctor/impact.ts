/** Why each check matters, by the name of the check; for a domain, by the part after its name. */
const IMPACTS: Readonly<Record<string, string>> = {
  readiness: 'Without these parts no mail is accepted or delivered.',
  server: 'Faults of the server itself are not seen while they cannot be checked.',
  'dns providers': 'Lost access to a DNS provider is not seen: new keys would not be published.',
  listeners:
    'Other servers and mail programs get "connection refused" there: mail waits with its senders, and then bounces.',
  clock:
    'Receivers reject signatures from the future or the past, and certificates and one-time codes count as invalid.',
  disk: 'On a full disk mail is refused until there is space.',
  storage: 'A damaged message cannot be read, and may be on no other disk.',
  bucket: 'Large messages are in the bucket: without it they can neither be stored nor read.',
  certificate: 'Mail programs warn or refuse to connect, and senders with MTA-STS or DANE do not deliver.',
  queue: 'Mail that waits is not read by anybody, and bounces after some days.',
  smarthost: 'All mail of this route waits while the login is rejected.',
  backup: 'Without a backup a lost disk is lost mail.',
  'spam filter': 'Without the filter spam and viruses reach the inboxes.',
  settings: 'Settings that contradict each other fail at the moment that they are needed.',
  'open relay': 'Spammers find an open relay within hours, and receivers block its address everywhere.',
  'outgoing port 25': 'Receivers take mail on port 25 only: without it nothing is delivered to other servers.',
  'incoming port 25': 'Senders deliver to port 25 only: their mail waits there, and then bounces.',
  'host name': 'Senders find this server by its host name, and receivers reject mail from a name without an address.',
  'EHLO name': 'Many receivers reject servers whose EHLO name does not resolve.',
  'reverse name': 'Gmail, Outlook and others reject mail from addresses without a matching reverse name.',
  resolver: 'Without the DNS no receiver is found and no sender is checked: mail waits.',
  IPv6: 'Receivers are stricter with IPv6: Gmail rejects mail from addresses without reverse name, and senders try IPv6 first.',
  blocklists: 'Receivers reject mail from addresses and domains on these lists.',
  'blocklist access':
    'A list that refuses this resolver filters nothing, and cannot warn that receivers see an entry there.',
  DANE: 'Senders that use DANE accept only the keys in the TLSA records: wrong records stop their mail.',
  dnssec:
    'Resolvers that validate answer nothing for a zone whose DS record is of another key: mail of its domains fails there.',
  'dns provider': 'New DKIM keys and policies are not published: receivers check mail against old ones.',
  domains: 'A domain that is not checked can lose its records unnoticed.',
  checks: 'A domain that is not checked can lose its records unnoticed.',
  verification: 'Mail for a domain that is not verified is rejected, and none is sent from it.',
  mx: 'Senders deliver to the hosts of the MX record, and nowhere else.',
  spf: 'Receivers treat mail from a server that SPF does not name as forged: it goes to junk or is rejected.',
  dkim: 'Gmail, Yahoo and Outlook send mail without a valid signature to junk or reject it.',
  dmarc:
    'Gmail, Yahoo and Outlook require a DMARC record of bulk senders, and without one anybody can forge the domain.',
  mtaSts:
    'Senders use no encryption when an attacker in the network asks for none; with a wrong policy they do not deliver at all.',
};

const OTHER = 'It affects delivery of mail.';

/** Says why a check matters. */
export function impactOf(name: string): string {
  const kind = name.startsWith('settings') ? 'settings' : name.slice(name.lastIndexOf(': ') + 1).trim();
  return IMPACTS[kind] ?? OTHER;
}
