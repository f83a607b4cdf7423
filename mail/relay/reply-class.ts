/** Cause of a deferral or rejection. */
export type ReplyClass =
  | 'unreachable'
  | 'dns'
  | 'login'
  | 'greylisted'
  | 'blocked'
  | 'rate-limited'
  | 'mailbox-full'
  | 'unknown-user'
  | 'tls'
  | 'authentication'
  | 'too-large'
  | 'content'
  | 'no-route'
  | 'ramp'
  | 'interrupted'
  | 'unknown';

interface Rule {
  class: ReplyClass;
  /** Enhanced status code; RFC 3463 and, from 7.25 on, RFC 7372. */
  status?: RegExp;
  text?: RegExp;
}

/** Phrases that reject a whole server, as opposed to one message. */
const BLOCKLIST =
  /\b(?:dns-?(?:bl|wl)|[dru]?rbl|spamhaus|zen\.|pbl|sbl|xbl|spamcop|barracuda(?:central)?|sorbs|invaluement|senderscore|uceprotect|mailspike|cloudmark)\b|\b(?:block|black|deny)[- ]?list(?:ed|ing)?\b|\breputation\b|\bdynamic (?:ip|address|range|pool)|\bresidential\b|\bgeneric (?:ptr|rdns|reverse)|\b(?:no|missing|invalid|without(?: a)?) (?:ptr|reverse dns|rdns)|\b(?:ptr|reverse dns|rdns)\b.{0,60}\b(?:record|required|not|fail|miss|must|does)|\b(?:ip|host|server|client|network)\b.{0,60}\b(?:is |was |been |has |temporarily |currently )+(?:block|ban|listed|reject|refused|denied|deferred)|\b(?:blocked|banned|listed)\b.{0,40}\b(?:ip|host|client|network)\b|\bunusual rate of unsolicited mail\b|\bunsolicited mail originating from your ip\b/i;

/** The first match wins; certain rules come before guesses from words. */
const RULES: readonly Rule[] = [
  { class: 'ramp', status: /^4\.3\.2$/, text: /^Sending ramp: / },
  { class: 'login', status: /^[45]\.7\.8$/ },
  { class: 'dns', status: /^4\.4\.3$/ },
  { class: 'unreachable', status: /^4\.4\.1$/ },
  { class: 'blocked', status: /^[45]\.7\.25$/ },
  { class: 'authentication', status: /^[45]\.7\.2[0-46]$/ },
  { class: 'tls', status: /^[45]\.7\.(?:4|5|10|11|30)$/ },
  {
    class: 'tls',
    text: /\bmust issue a STARTTLS|\b(?:TLS|STARTTLS|encryption) (?:is )?(?:required|needed)|\brequires? (?:TLS|encryption)/i,
  },
  {
    class: 'greylisted',
    text: /gr[ae]y-?list|\bpostgrey\b|first time we(?:'ve| have)? seen|\btry again in \d+ (?:second|minute)/i,
  },
  {
    class: 'content',
    text: /\b(?:content|url|link|attachment|virus|malware|phish|message (?:contains|body))/i,
    status: /^[45]\.(?:6|7)\./,
  },
  { class: 'blocked', text: BLOCKLIST, status: /^[45]\.(?:7|0|1\.8|2\.1|3|4)/ },
  {
    class: 'rate-limited',
    text: /\brate[- ]?limit|\btoo (?:many|much|fast|frequent)|\bthrottl|\bslow down\b|\b(?:message|connection|sending) (?:rate|limit)|\bquota of (?:messages|mail)/i,
  },
  { class: 'mailbox-full', status: /^[45]\.2\.2$/ },
  { class: 'mailbox-full', text: /\b(?:mailbox|inbox|quota|storage).{0,40}\b(?:full|exceed|over)|\bover ?quota\b/i },
  { class: 'unknown-user', status: /^[45]\.1\.(?:1|3|6|10)$|^5\.2\.1$/ },
  {
    class: 'unknown-user',
    text: /\b(?:no such|unknown|invalid|nonexistent) (?:user|recipient|mailbox|address|local)|\b(?:user|recipient|mailbox|address) (?:unknown|not found|does not exist|doesn't exist|unavailable)/i,
  },
  { class: 'too-large', status: /^[45]\.(?:3\.4|2\.3)$/ },
  { class: 'no-route', status: /^[45]\.(?:1\.2|4\.4|4\.6)$/ },
  { class: 'content', status: /^5\.6\./ },
  { class: 'interrupted', status: /^4\.(?:4\.2|3\.2)$/ },
];

/** Classifies a reply by its enhanced status code and text. `text`: one line, as stored in the queue. */
export function classifyReply({ status, text }: { status: string; text: string }): ReplyClass {
  const found = RULES.find((rule) => (rule.status?.test(status) ?? true) && (rule.text?.test(text) ?? true));
  return found?.class ?? 'unknown';
}
