/** Why each check matters, by the name of the check; for a domain, by the part after its name. */
const IMPACTS: Readonly<Record<string, string>> = {
  readiness: 'Without these parts no mail is accepted or delivered.',
  listeners: 'Each listener that is closed is a protocol that nobody can use.',
  clock: 'A wrong clock breaks certificates, signatures and one-time codes.',
  disk: 'On a full disk mail is refused until there is space.',
  storage: 'A damaged message cannot be read, and may be on no other disk.',
  bucket: 'Large messages are in the bucket: without it they can neither be stored nor read.',
  certificate: 'Without a valid certificate mail programs warn or refuse to connect.',
  queue: 'Mail that waits is not read by anybody.',
  smarthost: 'All mail of this route waits while the login is rejected.',
  backup: 'Without a backup a lost disk is lost mail.',
  'spam filter': 'Without the filter spam and viruses reach the inboxes.',
  settings: 'Settings that contradict each other fail at the moment that they are needed.',
  'open relay': 'Spammers find an open relay within hours, and its address is blocked everywhere.',
  'outgoing port 25': 'Mail to other servers leaves by port 25 only.',
  'incoming port 25': 'Mail from other servers arrives on port 25 only.',
  'host name': 'Other servers find this one by its host name.',
  'EHLO name': 'Many receivers reject servers whose EHLO name does not resolve.',
  'reverse name': 'Gmail, Outlook and others reject mail from addresses without a matching reverse name.',
  resolver: 'Every delivery and every check of a sender needs the DNS.',
  IPv6: 'Receivers are stricter with IPv6 addresses, and clients try IPv6 first.',
  blocklists: 'Receivers reject mail from addresses and domains on these lists.',
  'blocklist access': 'A list that refuses this resolver filters nothing, and cannot warn of a listing.',
  DANE: 'Senders that use DANE accept only the keys in the TLSA records: wrong records stop their mail.',
  'dns provider': 'Without access new DKIM keys and policies are not published.',
  verification: 'Mail for a domain that is not verified is rejected.',
  mx: 'The MX record says where mail for the domain arrives.',
  spf: 'Without SPF receivers treat mail of the domain as forged.',
  dkim: 'Without DKIM mail of the domain fails at large receivers.',
  dmarc: 'Large receivers require a DMARC record, and without one anybody can forge the domain.',
  mtaSts: 'Without MTA-STS an attacker in the network can read incoming mail.',
};

const OTHER = 'It affects delivery of mail.';

/** Says why a check matters. */
export function impactOf(name: string): string {
  const kind = name.startsWith('settings') ? 'settings' : name.slice(name.lastIndexOf(': ') + 1).trim();
  return IMPACTS[kind] ?? OTHER;
}
