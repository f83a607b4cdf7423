/** Second levels under which countries give out names. */
const SECOND_LEVELS: ReadonlySet<string> = new Set(
  (
    'ac ad art asn asso biz co com edu ed firm gen go gob gos gouv gov govt gv id in info k12 ltd me med mil ' +
    'mod muni name ne net nhs nom or org per plc police pro pvt res sch school sld store tm tv web'
  ).split(' '),
);

/** Under these everybody can have a name: what one of them does says nothing of the next. */
const SHARED: ReadonlySet<string> = new Set(
  (
    'amazonaws.com appspot.com azurewebsites.net backblazeb2.com blob.core.windows.net blogspot.com cloudfront.net ' +
    'ddns.net digitaloceanspaces.com duckdns.org firebaseapp.com fly.dev github.io gitlab.io glitch.me ' +
    'godaddysites.com herokuapp.com myshopify.com netlify.app ngrok-free.app ngrok.io no-ip.org onrender.com ' +
    'pages.dev r2.dev repl.co sharepoint.com surge.sh translate.goog tumblr.com vercel.app web.app webflow.io ' +
    'weebly.com wixsite.com wordpress.com workers.dev'
  ).split(' '),
);

/**
 * The domain that somebody registered, as far as the name itself tells: `mail.shop.co.uk` belongs to `shop.co.uk`. A
 * rule and a short list where the public suffix list would be exact: it decides on which lists a host is looked up and
 * which domains look alike, never on what is proved.
 */
export function registrable(host: string): string {
  const labels = host.toLowerCase().split('.');
  for (let at = Math.max(1, labels.length - 4); at < labels.length - 1; at++) {
    if (SHARED.has(labels.slice(at).join('.'))) return labels.slice(at - 1).join('.');
  }
  const [second = '', top = ''] = labels.slice(-2);
  const country = top.length === 2 && SECOND_LEVELS.has(second) && labels.length > 2;
  return labels.slice(country ? -3 : -2).join('.');
}

/** The label that a domain is known by: `shop` of `mail.shop.co.uk`. */
export function mainLabel(host: string): string {
  return registrable(host).split('.')[0] ?? '';
}

/** Whether two hosts belong together, as far as their names tell. */
export function sameOwner(one: string, other: string): boolean {
  return registrable(one) === registrable(other);
}

/** Of an address in the form in which addresses are compared; '' where it is none. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
