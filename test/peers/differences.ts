/** Messages of the corpus in which another answer than Dovecot's is right, or at least as good, and why. */
const STRUCTURE: Readonly<Record<string, readonly string[]>> = {
  'RFC 2046 5.2.1 allows no base64 for message/rfc822, and readers differ on what is inside: it is shown as a file': [
    'attached message in base64',
    'broken: message/rfc822 with a multipart encoding',
  ],
  'RFC 2046 5.1.1: the line end in front of a delimiter belongs to the delimiter; Dovecot counts it to an attached message without a body':
    ['attached message that is empty', 'broken: delimiter ends the header of an attached message'],
  'Structure is opened 20 deep, what is below is one text: clients that recurse survive it': ['nested 45 deep'],
  'A multipart without parts is shown as the text that it is, so that people can read it; Dovecot shows an empty part':
    [
      'broken: no delimiter at all',
      'broken: no body at all',
      'broken: only the closing delimiter',
      'broken: no boundary parameter',
      'broken: empty boundary',
      'broken: boundary of blanks',
    ],
  'RFC 2046 5.1.1 has boundaries of at most 70: 200 are taken, more are none; Dovecot compares the first 70': [
    'broken: boundary of 200',
    'broken: boundary of 300',
  ],
  'The boundary is read up to a semicolon or blank, as the mailers that leave the quotes out mean it; Dovecot cuts at "="':
    ['broken: boundary unquoted with odd characters'],
  'RFC 2046 5.1.1: only blanks may follow a boundary on its line; Dovecot takes any line that begins like one': [
    'broken: text behind a delimiter',
    'broken: text behind the closing delimiter',
    'broken: lines that look like delimiters',
  ],
  'Clients join RFC 2231 continuations and know their charset; Dovecot joins them': [
    'broken: boundary in RFC 2231',
    'file name: RFC 2231 continued',
    'file name: RFC 2231 continued out of order',
    'file name: RFC 2231 in many pieces',
  ],
  'RFC 2045 5.2: a type that cannot be read is text/plain; Dovecot answers empty strings': [
    'broken: type with a missing semicolon',
    'broken: type without a slash',
    'broken: type that is a file name',
    'broken: type empty',
    'broken: type with a trailing slash',
  ],
  'What can be read of a broken parameter is kept; Dovecot drops it, or its name': [
    'broken: parameters without values',
    'broken: parameter with an open quote',
    'file name: blanks without quotes',
    'file name: parenthesis without quotes',
  ],
  'RFC 3501 4.3 has no 8-bit strings: a name with such octets is told as RFC 2231 has it': [
    'file name: raw UTF-8',
    'file name: raw latin-1',
  ],
  'A disposition that is no word is an attachment; Dovecot answers an empty string': ['file name: no word'],
};

const ENVELOPE: Readonly<Record<string, readonly string[]>> = {
  'A missing mailbox or domain is empty; Dovecot makes up MISSING_MAILBOX, MISSING_DOMAIN and SYNTAX_ERROR': [
    'To: empty group without a colon',
    'To: no domain',
    'To: no angle close',
    'From: null path',
    'From: old cron',
  ],
  'RFC 5322 4.4: blanks around dots and "@" are part of the syntax; Dovecot takes them for a name as well': [
    'To: blanks in the address',
  ],
  'The last "@" parts mailbox and domain': ['To: two at signs'],
  'Outlook separates by semicolons': ['To: semicolons as separators'],
  'RFC 5322 4.4: empty members of a list are nothing; Dovecot shows them as missing': ['To: empty members'],
  'A comma in an encoded word is part of the word': ['To: comma in an encoded word'],
  'A comment behind an address is the name, as RFC 822 mailers wrote it': ['To: name behind'],
  'RFC 3501 4.3 has no 8-bit strings: names and subjects become words in UTF-8, domains A-labels': [
    'To: raw 8-bit name',
    'To: internationalized address',
    'Subject: raw latin-1',
  ],
  'Of fields that may be there once the first counts, as in what is shown; Dovecot takes the last, or adds them up': [
    'From: twice',
    'Date: twice',
  ],
  'Unfolding removes line ends and nothing else (RFC 5322 2.2.3); Dovecot makes each run of blanks one': [
    'Subject: folded with tabs',
  ],
  'One msg-id, without the blanks around it; the first when there are two': ['id quoted and folded', 'two ids'],
};

const byName = (table: typeof STRUCTURE): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([why, names]) => names.map((name) => [name, why] as const)));

/** Name of a message -> why our answer differs from Dovecot's. */
export const EXPLAINED = { BODYSTRUCTURE: byName(STRUCTURE), ENVELOPE: byName(ENVELOPE) } as const;
