/** Pages of lists on which an entry is explained and its removal requested, by the end of the zone. */
const PAGES: Readonly<Record<string, string>> = {
  'spamhaus.org': 'https://check.spamhaus.org/',
  'spamhaus.net': 'https://check.spamhaus.org/',
  'spamcop.net': 'https://www.spamcop.net/bl.shtml',
  'psbl.surriel.com': 'https://psbl.org/',
  'barracudacentral.org': 'https://www.barracudacentral.org/lookups',
  'mailspike.net': 'https://mailspike.io/ip_verify',
  'dronebl.org': 'https://dronebl.org/lookup',
  'blocklist.de': 'https://www.blocklist.de/en/search.html',
  'uceprotect.net': 'https://www.uceprotect.net/en/rblcheck.php',
  'spamrats.com': 'https://www.spamrats.com/lookup.php',
  'abusix.zone': 'https://lookup.abusix.com/',
  'dnsbl.manitu.net': 'https://www.dnsbl.manitu.net/',
  'surbl.org': 'https://surbl.org/surbl-analysis',
  'uribl.com': 'https://lookup.uribl.com/',
};

/** Finds the page of a list; undefined: it is not known. */
export function removalPage(zone: string): string | undefined {
  const [, page] = Object.entries(PAGES).find(([end]) => zone === end || zone.endsWith(`.${end}`)) ?? [];
  return page;
}

/** Name of a list for people: a first label that is the key of a customer is a secret. */
export function listName(zone: string): string {
  return zone.replace(/^(?=[^.]*\d)[a-z\d]{16,63}\.(?=[^.]+\.[^.]+)/i, '');
}
