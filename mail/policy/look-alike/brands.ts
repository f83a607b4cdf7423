/** A brand that phishing imitates. */
export interface Brand {
  domain: string;
  /** Display name; '' if it is also a common word or a personal name. */
  name: string;
}

// Domains and display names. Short on purpose: each name costs a comparison for each host of each message.
const LIST = `paypal.com paypal|amazon.com amazon|apple.com|microsoft.com microsoft|microsoftonline.com office 365
google.com google|facebook.com facebook|instagram.com instagram|whatsapp.com whatsapp|linkedin.com linkedin
netflix.com netflix|spotify.com spotify|dropbox.com dropbox|docusign.com docusign|docusign.net|adobe.com adobe
ebay.com ebay|icloud.com icloud|outlook.com|office.com|github.com github|coinbase.com coinbase|binance.com binance
kraken.com|metamask.io metamask|blockchain.com|ledger.com|trezor.io trezor|stripe.com|wise.com|revolut.com revolut
wellsfargo.com wells fargo|bankofamerica.com bank of america|chase.com|citibank.com citibank|hsbc.com hsbc
barclays.co.uk barclays|santander.com santander|ing.com|sparkasse.de sparkasse|postbank.de postbank
commerzbank.de commerzbank|deutsche-bank.de deutsche bank|bnpparibas.com bnp paribas|unicredit.it unicredit
americanexpress.com american express|mastercard.com mastercard|visa.com|dhl.com dhl|dhl.de|fedex.com fedex|ups.com
usps.com usps|dpd.com|hermesworld.com|royalmail.com royal mail|laposte.fr la poste|irs.gov|hmrc.gov.uk hmrc
telekom.de telekom|vodafone.com vodafone|att.com|verizon.com verizon|steampowered.com|roblox.com roblox
booking.com|airbnb.com airbnb|walmart.com walmart|costco.com costco|aliexpress.com aliexpress|alibaba.com alibaba
cloudflare.com cloudflare|godaddy.com godaddy|namecheap.com namecheap|ionos.com ionos|ovhcloud.com ovhcloud
norton.com|mcafee.com mcafee|geeksquad.com geek squad|zoom.us|slack.com|telegram.org telegram|twitter.com twitter`;

/** Brands that phishing often imitates. */
export const BRANDS: readonly Brand[] = LIST.split(/[|\n]/).map((entry) => {
  const [domain = '', ...name] = entry.split(' ');
  return { domain, name: name.join(' ') };
});
